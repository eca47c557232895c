// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products on SIMD processors: a register tile of accumulators; the column operand is packed
// into scratch.
#include <algorithm>

#include "core/kernel/templates/contraction/contraction.hpp"
#include "core/kernel/tree/dot.hpp"

namespace tenon {

int64_t tile_rows(int64_t most, const Expr& extent) {
  if (!extent.is_const()) return most;
  const int64_t m = extent.value();
  if (m <= most) return m;
  int64_t best = most;
  double best_rate = 0;
  for (int64_t rows = most; rows >= std::max<int64_t>(1, most * 2 / 3); --rows) {
    const int64_t whole = (m + rows - 1) / rows * rows;
    const double filled = static_cast<double>(m) / static_cast<double>(whole);
    const double rate = filled * (1 - 0.01 * static_cast<double>(most - rows));
    if (rate > best_rate) best_rate = rate, best = rows;
  }
  return best;
}

RegisterTile best_tile(const ScheduleBuilder& builder, int64_t m, int64_t n, bool whole_panels) {
  const int64_t registers = builder.caps.vector_registers ? builder.caps.vector_registers : 16;
  // Time of a step: its multiply-adds, at least as many as are in flight, and a part of its loads.
  const auto step = [](int64_t rows, int64_t vectors) {
    constexpr int64_t kInFlight = 8;
    constexpr double kLoad = 0.1;
    if (rows == 0 || vectors == 0) return 0.0;
    return static_cast<double>(std::max(kInFlight, rows * vectors)) +
           kLoad * static_cast<double>(rows + 2 * vectors);
  };
  RegisterTile best;
  double least = 0;
  for (const int64_t vectors : {2, 3, 1}) {
    const int64_t most = std::min({int64_t{14}, registers * 3 / 4 / vectors, m});
    for (int64_t rows = vectors > n ? 0 : most; rows > 0; --rows) {
      const int64_t columns = n / vectors, lines = m / rows;  // of whole tiles
      const auto row_of_tiles = [&](int64_t height) {
        const int64_t rest = n % vectors, end = whole_panels && rest != 0 ? vectors : rest;
        return static_cast<double>(columns) * step(height, vectors) + step(height, end);
      };
      const double time = static_cast<double>(lines) * row_of_tiles(rows) + row_of_tiles(m % rows);
      if (least == 0 || time < least) least = time, best = {rows, vectors};
    }
  }
  return {builder.choose("rows", best.rows, {4, 6, 8}),
          builder.choose("vectors", best.vectors, {1, 2, 3})};
}

int64_t private_cache(const ScheduleBuilder& builder) {
  return (builder.caps.l2_bytes ? static_cast<int64_t>(builder.caps.l2_bytes) : 256 << 10) / 2;
}

namespace {

/// Fuses batch axes that only the rows depend on into the rows: columns are then packed once for
/// all of them. Returns the outermost loop.
int fuse_batches(ScheduleBuilder& builder, int outermost) {
  std::vector<int> axes = builder.perfect_nest(builder.loop(outermost));
  const size_t count = builder.kernel.axes.size();
  const int64_t rows = builder.size(find_matmul(builder, builder.loop(outermost))->m);
  for (size_t i = axes.size() - 1; i-- > 1;) {
    const Matmul mm = *find_matmul(builder, builder.loop(axes.front()));
    const auto is_row = [&](int a) {
      return uses(builder, mm.rows, a) && !uses(builder, mm.columns, a);
    };
    if (!is_row(axes[i]) || !is_row(axes[i - 1])) continue;
    const int hard = divisions(builder.kernel);
    const int fused = builder.fuse_if(axes[i - 1], axes[i], [&](int made) {
      const int first = i == 1 ? made : axes.front();
      return divisions(builder.kernel) <= hard && find_matmul(builder, builder.loop(first));
    });
    if (fused >= 0) axes[i - 1] = fused;
  }
  const Matmul mm = *find_matmul(builder, builder.loop(axes.front()));
  if (builder.kernel.axes.size() == count || !builder.extent(mm.m).is_const()) return axes.front();
  // Blocks of rows that stay in the private cache from one column panel to the next.
  const int64_t all = builder.size(mm.m);
  const int64_t row = static_cast<int64_t>(dtype_size(mm.rows_dtype)) * builder.size(mm.k);
  int64_t at_once = std::min(all, std::max(rows, private_cache(builder) / row));
  while (all % at_once != 0) --at_once;
  if (at_once == all) return axes.front();
  const int blocks = builder.split(mm.m, at_once).first;
  return mm.m == axes.front() ? blocks : axes.front();
}

/// Few rows, and columns that are contiguous along the sum, as in x·Wᵀ: packing would cost more
/// than the product. Tiles of dot products, with lanes along the sum.
bool schedule_along_sum(ScheduleBuilder& builder, const Matmul& mm, const DotAtom* dot) {
  constexpr int64_t kMostRows = 32, kMostColumns = 4;
  const int64_t neighbours = dot ? dot->k : 1;
  const bool computed = mm.rows_computed || mm.columns_computed;
  const int64_t lanes =
      computed ? builder.lanes(*path_to(builder.kernel, mm.n).back())
               : static_cast<int64_t>(builder.caps.vector_bytes / dtype_size(mm.rows->dtype)) /
                     neighbours;
  int64_t terms = builder.size(mm.k);  // of all reduce axes if lanes fill the innermost one
  if (computed && terms % lanes == 0)
    for (size_t i = 0; i + 1 < mm.sum.size(); ++i) terms *= builder.size(mm.sum[i]);
  const auto lies_along_sum = [&](const KValueRef& v) {
    return builder.stride(v->index, mm.k) == 1;
  };
  if (builder.size(mm.m) > kMostRows || terms < 4 * lanes * neighbours || lanes < 2 ||
      !lies_along_sum(mm.rows) || !lies_along_sum(mm.columns))
    return false;
  // A tile loads each of its rows and columns once.
  const int64_t registers = builder.caps.vector_registers ? builder.caps.vector_registers : 16;
  const int64_t rows = tile_rows(registers / 4, builder.extent(mm.m));
  const int64_t columns = std::min(kMostColumns, std::max<int64_t>(1, registers * 3 / 4 / rows));
  const auto [m_tiles, m_copy] = builder.split(mm.m, rows);
  const auto [n_tiles, n_copy] = builder.split(mm.n, columns);
  builder.unroll(m_copy);
  builder.unroll(n_copy);
  std::vector<int> order = mm.batch;
  order.push_back(n_tiles);
  order.push_back(m_tiles);
  builder.reorder(order);
  const int k_inside = builder.split(mm.k, lanes * neighbours).second;
  if (dot) {
    const auto [k_lane, k_neighbour] = builder.split(k_inside, neighbours);
    builder.vectorize(k_lane);
    builder.dot(k_neighbour);
  } else {
    builder.vectorize(k_inside);
  }
  bind_grid(builder, n_tiles, 1);
  if (!mm.batch.empty()) bind_grid(builder, mm.batch.front(), 1, Bind::kGridZ);
  return true;
}

/// Fewest multiply-adds of a workgroup: with fewer, packing again costs more than an idle core.
constexpr int64_t kLeastWork = 1 << 18;
/// Fewest terms of a block of a sum: with fewer, merging blocks costs too much.
constexpr int64_t kLeastTerms = 128;

/// Splits the sum into blocks whose packed columns (`term` bytes a term) fit `room`, around the
/// tiles of loop `at`. Returns the loop to pack in; -1 if no block fits.
int block_sum(ScheduleBuilder& builder, const Matmul& mm, int64_t term, int64_t room, int at) {
  std::vector<int> sum = mm.sum;
  auto panel = static_cast<double>(term);
  for (const int a : sum) panel *= static_cast<double>(builder.extent(a).max());
  if (panel <= static_cast<double>(room)) return at;
  // The innermost axis that has enough terms with the axes inside it.
  size_t cut = sum.size() - 1;
  int64_t inside = 1;
  while (cut > 0 && builder.size(sum[cut]) * inside < kLeastTerms)
    inside *= builder.size(sum[cut--]);
  term *= inside;
  const int64_t k = builder.size(sum[cut]), least = (term * k + room - 1) / room;
  int64_t blocks = least;  // or up to twice as many, if that divides the axis
  while (blocks < 2 * least && k % blocks != 0) ++blocks;
  if (k % blocks != 0) blocks = least;
  if (k * inside / blocks < kLeastTerms || !builder.extent(sum[cut]).is_const()) return -1;
  if (blocks > 1) {
    const auto [outer, inner] = builder.split(sum[cut], (k + blocks - 1) / blocks);
    sum[cut] = inner;
    sum.insert(sum.begin() + static_cast<std::ptrdiff_t>(cut++), outer);
  }
  return cut > 0 && builder.compute_at(sum[cut], at) ? sum[cut - 1] : -1;
}

/// The device's dot product for the operands' dtypes; null if it has none, or if there are too few
/// rows to pay for packing the columns.
const DotAtom* dot_for(const ScheduleBuilder& builder, const Matmul& mm) {
  constexpr int64_t kLeastRows = 8;
  const std::vector<const Statement*> reductions =
      builder.reductions(*path_to(const_cast<Kernel&>(builder.kernel), mm.n).back());
  const bool along_sum = builder.stride(mm.columns->index, mm.k) == 1;
  if (builder.size(mm.m) < kLeastRows && !along_sum) return nullptr;
  if (mm.rows_computed || mm.columns_computed) return nullptr;
  return find_dot(mm.rows_dtype, mm.columns_dtype, reductions[0]->states[0], builder.caps);
}

/// Packs the columns of one iteration of loop `at` in the order of the lanes; with dot products the
/// elements of each DOT are innermost. Returns false and does nothing if that is not legal.
bool pack_columns(ScheduleBuilder& builder, const Matmul& mm, int at, int64_t lanes,
                  std::optional<int> neighbour) {
  const bool strided = builder.stride(mm.columns->index, mm.n) != 1;
  const bool along_sum = builder.stride(mm.columns->index, mm.k) == 1;
  if (!builder.stage({.source = {mm.columns->buffer, {}},
                      .at = at,
                      .inner = neighbour,
                      .computed = mm.columns_computed}))
    return false;
  const int last = static_cast<int>(builder.kernel.axes.size()) - 1;
  if (strided && along_sum && mm.columns_computed && builder.extent(last).is_const(lanes)) {
    // Squares that are read along the source and transposed.
    builder.vectorize(last);
    builder.unroll(builder.split(last - 1, lanes).second);
  } else if (!neighbour) {
    if (!mm.columns_computed)
      pack_last_tile(builder, lanes);
    else if (!strided && builder.extent(last).is_const(lanes))
      builder.vectorize(last);
  } else if (strided) {
    builder.vectorize(last);
  } else {
    builder.unroll(last);
    if (builder.extent(last - 1).is_const(lanes)) builder.vectorize(last - 1);
  }
  return true;
}

/// Register tiles with columns in lanes. Returns false, with steps done, if dot products do not
/// fit.
bool schedule_panels(ScheduleBuilder& builder, const Matmul& mm, const DotAtom* dot) {
  const int64_t lanes = builder.lanes(*path_to(builder.kernel, mm.n).back());
  const auto [rows, columns] =
      best_tile(builder, builder.size(mm.m), (builder.size(mm.n) + lanes - 1) / lanes);
  const std::optional<int> neighbour =
      dot ? std::optional(builder.split(mm.k, dot->k).second) : std::nullopt;
  auto [m_tiles, m_copy] = builder.split(mm.m, rows);
  auto [n_tiles, n_inside] = builder.split(mm.n, lanes * columns);
  builder.unroll(m_copy);
  if (columns > 1) {
    const auto [n_copy, n_lane] = builder.split(n_inside, lanes);
    builder.unroll(n_copy);
    builder.vectorize(n_lane);
  } else {
    builder.vectorize(n_inside);
  }
  // Enough workgroups for load balance, but many rows for each packed column panel.
  const int64_t panels = builder.size(n_tiles);
  const int64_t cores = std::max<int64_t>(1, builder.caps.compute_units);
  const int64_t wanted = cores > 1 ? 8 * cores : 1;
  int m_blocks = -1;
  int64_t batch = 1;
  for (const int a : mm.batch) batch *= builder.size(a);
  if (panels * batch < wanted && builder.size(m_tiles) >= 8) {
    const int64_t panel_work = builder.size(mm.m) * builder.size(mm.k) * lanes * columns;
    const int64_t blocks = std::min({(wanted + panels * batch - 1) / (panels * batch),
                                     builder.size(m_tiles) / 4, panel_work / kLeastWork});
    if (blocks > 1)
      std::tie(m_blocks, m_tiles) =
          builder.split(m_tiles, (builder.size(m_tiles) + blocks - 1) / blocks);
  }
  std::vector<int> order = mm.batch;
  order.push_back(n_tiles);
  if (m_blocks >= 0) order.push_back(m_blocks);
  order.push_back(m_tiles);
  builder.reorder(order);
  // The packed panel stays in the private cache, with room for streams.
  const int rows_at = m_blocks >= 0 ? m_blocks : n_tiles;
  const int64_t term = static_cast<int64_t>(dtype_size(mm.columns_dtype)) * lanes * columns;
  int64_t room = private_cache(builder);
  if (builder.caps.max_scratch_bytes)
    room = std::min<int64_t>(room, builder.caps.max_scratch_bytes);
  int pack_at = -1;
  if (dot) {
    if (term * builder.extent(mm.k).max() <= room) pack_at = rows_at;
  } else if (builder.size(m_tiles) >= 3 || builder.stride(mm.columns->index, mm.n) != 1) {
    pack_at = block_sum(builder, mm, term, room, rows_at);
  }
  if (pack_at == rows_at || pack_at < 0) loop_over_epilogue(builder, m_tiles, m_copy);
  const bool packed = pack_at >= 0 && pack_columns(builder, mm, pack_at, lanes, neighbour);
  if (dot) {
    if (!packed) return false;
    if (builder.stride(mm.rows->index, mm.k) != 1 &&
        !builder.stage({.source = {mm.rows->buffer, {}}, .at = m_tiles, .inner = neighbour}))
      return false;
    builder.dot(*neighbour);
  }
  bind_grid(builder, n_tiles, 1);
  if (m_blocks >= 0) bind_grid(builder, m_blocks, 1, Bind::kGridY);
  if (!mm.batch.empty()) bind_grid(builder, mm.batch.front(), 1, Bind::kGridZ);
  return true;
}

/// True if rows are strided along the sum: each step would read a few elements of many cache lines,
/// again for each column panel.
bool output_lies_across(ScheduleBuilder& builder, const Contraction& c) {
  constexpr int64_t kLeastRows = 64;
  const auto along = builder.stride(c.row->index, c.sum.back());
  return builder.stride(c.row->index, c.rows.back()) == 1 && along && *along >= kLeastRows &&
         builder.size(c.sum.back()) >= kLeastTerms &&
         builder.lanes(builder.loop(c.columns.back())) >= 2;
}

/// Splits the reduce axes by the divisors in the indices of computed factors, such as quantised
/// weights. Returns the outermost loop.
int split_computed(ScheduleBuilder& builder, int axis) {
  const Matmul mm = *find_matmul(builder, builder.loop(axis));
  if (!mm.rows_computed && !mm.columns_computed) return axis;
  const auto nest = std::ranges::find(builder.kernel.body, axis, &Statement::axis);
  split_divided(builder, static_cast<size_t>(nest - builder.kernel.body.begin()), Divided::kSum);
  return axis;
}

}  // namespace

bool schedule_matmul(ScheduleBuilder& builder, int axis) {
  if (schedule_convolution(builder, axis)) return true;
  if (!find_matmul(builder, builder.loop(axis))) return false;
  const int outermost = fuse_batches(builder, split_computed(builder, axis));
  const Matmul mm = *find_matmul(builder, builder.loop(outermost));
  const DotAtom* dot = dot_for(builder, mm);
  const auto with_dots = [&](ScheduleBuilder& trial) {
    return schedule_along_sum(trial, mm, dot) || schedule_panels(trial, mm, dot);
  };
  if (dot && builder.attempt(with_dots)) return true;
  const std::optional<Contraction> c = find_contraction(builder, builder.loop(outermost));
  if (!mm.rows_computed && !mm.columns_computed && !c->columns.empty() &&
      output_lies_across(builder, *c) && schedule_packed(builder, *c))
    return true;
  return schedule_along_sum(builder, mm, nullptr) || schedule_panels(builder, mm, nullptr);
}

}  // namespace tenon
