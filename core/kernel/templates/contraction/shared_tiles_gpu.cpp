// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products on devices with workgroups: a tile of the result for each workgroup, operands
// staged in shared memory, a register tile for each thread or matrix atoms for each subgroup.
#include <algorithm>
#include <numeric>

#include "core/kernel/templates/contraction/contraction.hpp"
#include "core/kernel/templates/cooperative_loads.hpp"
#include "core/kernel/transforms/legality.hpp"
#include "core/kernel/transforms/tile_loops.hpp"
#include "core/kernel/tree/matrix.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr int64_t kMostStagesOfTile = 4;             ///< of a multi-buffered tile
constexpr int64_t kMostTile = 128, kLeastTile = 32;  ///< rows and columns of a workgroup
constexpr int64_t kFewestRows = 4;   ///< or columns: fewer are separate row reductions
constexpr int64_t kLeastDepth = 16;  ///< terms of the sum that are staged together

void stage_operand(ScheduleBuilder& builder, const KValueRef& load, DType dtype, bool computed,
                   int at, const Threads& threads, bool in_lines) {
  const int64_t piece = std::max<int64_t>(1, 16 / static_cast<int64_t>(dtype_size(dtype)));
  if (!builder.stage({.source = {load->buffer, {}},
                      .at = at,
                      .pad = in_lines ? 0 : piece,
                      .computed = computed,
                      .lines = in_lines}))
    return builder.give_up("an operand that can be staged");
  const std::vector<int> axes = copy_loops(builder);
  Statement& copy = builder.loop(axes.front());
  const int64_t lanes =
      in_lines ? std::min(piece, builder.short_vector_of(builder.loads(copy), axes.back()))
               : builder.short_vector(copy, axes.back());
  spread_over_block(builder, axes, threads, lanes, true);
}

void stage_operands(ScheduleBuilder& builder, const Matmul& mm, int at, const Threads& threads,
                    bool in_lines = false) {
  stage_operand(builder, mm.rows, mm.rows_dtype, mm.rows_computed, at, threads, in_lines);
  stage_operand(builder, mm.columns, mm.columns_dtype, mm.columns_computed, at, threads, in_lines);
}

/// Binds blocks and batches to the grid.
void bind_blocks(ScheduleBuilder& builder, const Matmul& mm, int rows, int columns) {
  bind_grid(builder, columns, 1);
  bind_grid(builder, rows, 1, Bind::kGridY);
  if (!mm.batch.empty()) bind_grid(builder, builder.fuse_all(mm.batch), 1, Bind::kGridZ);
}

int64_t count_blocks(const ScheduleBuilder& builder, const Matmul& mm, int64_t rows,
                     int64_t columns) {
  int64_t blocks = 1;
  for (const int a : mm.batch) blocks *= builder.size(a);
  const int64_t down = (builder.size(mm.m) + rows - 1) / rows;
  const int64_t across = (builder.size(mm.n) + columns - 1) / columns;
  return blocks * down * across;
}

/// The tile of a workgroup, narrower if there are few rows or columns.
struct ThreadTile {
  int64_t rows = 1, columns = 1;
  bool thin() const { return std::min(rows, columns) < kLeastTile; }
  bool small() const { return std::min(rows, columns) <= kLeastTile; }
};
ThreadTile tile_of(const ScheduleBuilder& builder, const Matmul& mm, int64_t most) {
  return {std::min(most, ceil_pow2(builder.size(mm.m))),
          std::min(most, ceil_pow2(builder.size(mm.n)))};
}

/// Size of a square tile: large, for reuse of operands, but small enough to occupy all units.
int64_t block_tile(const ScheduleBuilder& builder, const Matmul& mm, int64_t most, int64_t least) {
  const int64_t units = std::max<int64_t>(1, builder.caps.compute_units);
  while (most > least && count_blocks(builder, mm, most, most) < units) most /= 2;
  return most;
}

/// Multi-buffers the tiles with as many stages as leave shared memory for `workgroups` workgroups a
/// unit.
void multi_buffer_tiles(ScheduleBuilder& builder, int k_block, const Matmul& mm,
                        int64_t workgroups = 2) {
  if (builder.refusal() || !builder.caps.copies_async() || mm.rows_computed || mm.columns_computed)
    return;
  const int64_t tiles = shared_bytes(builder, true);
  const int64_t others = shared_bytes(builder, false) - tiles;
  const int64_t room = builder.caps.max_shared_bytes / workgroups - others;
  const int64_t stages = std::min({kMostStagesOfTile, room / tiles, builder.size(k_block)});
  if (stages >= 2) builder.multi_buffer(k_block, builder.choose("stages", stages, {2, 3}));
}

/// Terms of the sum that are staged together. If an index divides k, as by the taps of a window, a
/// multiple of the divisor, so that offsets are the same in every block. Copies are unrolled, so a
/// thread must not copy too many: then asks for a smaller tile, or uses `wanted`.
int64_t depth_of(ScheduleBuilder& builder, const Matmul& mm, const ThreadTile& tile,
                 const Threads& threads, int64_t wanted, int64_t step) {
  constexpr int64_t kMost = 160, kMostCopies = 80;
  const int64_t repeats = divisor_of(builder, {mm.rows, mm.columns}, mm.k);
  const int64_t whole = std::lcm(repeats, step);
  const bool divides = builder.extent(mm.k).is_const() && builder.size(mm.k) % whole == 0;
  const int64_t otherwise = std::max(kLeastDepth, wanted);
  if (repeats < 2) return otherwise;
  const int64_t longer = std::max(tile.rows, tile.columns);
  const auto few = [&](int64_t depth) {
    return depth * longer / (threads.x * threads.y * threads.z) <= kMostCopies;
  };
  if (divides && whole <= kMost && few(whole)) return whole;
  const bool smaller = longer > kLeastTile && (!few(otherwise) || (divides && whole <= kMost));
  if (smaller) builder.give_up("fewer copies of a tile");
  return otherwise;
}

/// Rows or columns of a tile for each thread.
int64_t share_of(int64_t size) { return size >= 128 ? 8 : size >= 64 ? 4 : 2; }

void schedule_registers(ScheduleBuilder& builder, const Matmul& mm, int64_t wanted) {
  const ThreadTile tile = tile_of(builder, mm, builder.choose("tile", wanted, {128, 64, 32}));
  const int64_t rows = share_of(tile.rows), columns = share_of(tile.columns);
  const Threads threads{tile.columns / columns, tile.rows / rows, 1};
  int64_t lanes = std::min<int64_t>(columns, builder.caps.of(mm.columns_dtype).vector_lanes);
  if (!builder.caps.has(Op::BROADCAST) || builder.caps.storage_bytes > 1) lanes = 1;
  const auto [m_block, m_inside] = builder.split(mm.m, tile.rows);
  // Neighbouring threads take neighbouring rows and vectors, against bank conflicts; the rows of
  // one thread are threads.y apart.
  const auto [m_copy, m_thread] = builder.split(m_inside, threads.y);
  const auto [n_block, n_inside] = builder.split(mm.n, tile.columns);
  const auto [n_copy, n_near] = builder.split(n_inside, lanes * threads.x);
  const auto [n_thread, n_lane] = builder.split(n_near, lanes);
  const auto [k_block, k_step] =
      builder.split(mm.k, depth_of(builder, mm, tile, threads, kLeastDepth, 4));
  std::vector<int> order = mm.batch;
  order.insert(order.end(), {m_block, n_block, m_thread, n_thread, m_copy, n_copy, n_lane});
  builder.reorder(order);
  builder.bind(m_thread, Bind::kBlockY);
  builder.bind(n_thread, Bind::kBlockX);
  builder.unroll(m_copy);
  builder.unroll(n_copy);
  if (lanes > 1) builder.vectorize(n_lane);
  stage_operands(builder, mm, k_block, threads);
  // With a guard every block would have the masks of the last.
  if (!is_guarded(builder.kernel, k_block)) multi_buffer_tiles(builder, k_block, mm);
  bind_blocks(builder, mm, m_block, n_block);
}

/// Spreads the epilogue, which loads the sums from their tile, over the threads of a subgroup.
void use_sums(ScheduleBuilder& builder, const Threads& threads) {
  if (builder.refusal()) return;
  std::vector<int> axes;
  walk(std::as_const(builder.kernel).body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kMatrix) axes = builder.perfect_nest(s.body[0]);
  });
  spread_over_block(builder, axes, threads,
                    builder.short_vector(builder.loop(axes.front()), axes.back()), false);
}

/// Subgroups of a workgroup: two each way if the tile has room, else along the axis that has.
Threads subgroups(const ThreadTile& tile, const MatrixAtom& atom, int64_t most) {
  const int64_t down = std::clamp<int64_t>(tile.rows / atom.m, 1, most > 1 ? 2 : 1);
  const int64_t across = std::clamp<int64_t>(tile.columns / atom.n, 1, most / down);
  return {atom.subgroup, std::clamp<int64_t>(tile.rows / atom.m, 1, most / across), across};
}

void schedule_atoms(ScheduleBuilder& builder, const Matmul& mm, const MatrixAtom& atom,
                    int64_t wanted) {
  const int64_t most = builder.choose("tile", wanted, {128, 64, 32});
  ThreadTile tile = tile_of(builder, mm, most);
  tile = {std::max<int64_t>(tile.rows, atom.m), std::max<int64_t>(tile.columns, atom.n)};
  const Threads threads = subgroups(tile, atom, 4);
  const auto [m_block, m_inside] = builder.split(mm.m, tile.rows);
  const auto [m_group, m_own] = builder.split(m_inside, tile.rows / threads.y);
  const auto [m_copy, m_atom] = builder.split(m_own, atom.m);
  const auto [n_block, n_inside] = builder.split(mm.n, tile.columns);
  const auto [n_group, n_own] = builder.split(n_inside, tile.columns / threads.z);
  const auto [n_copy, n_atom] = builder.split(n_own, atom.n);
  // A small tile reads much for each result: deeper blocks, if the sum is long.
  int64_t depth = (tile.small()                                    ? 8
                   : std::max(tile.rows, tile.columns) < kMostTile ? 4
                                                                   : 2) *
                  static_cast<int64_t>(atom.k);
  while (depth > 2 * static_cast<int64_t>(atom.k) && 4 * depth > builder.size(mm.k)) depth /= 2;
  const auto [k_block, k_inside] = builder.split(
      mm.k, depth_of(builder, mm, tile, threads, depth, static_cast<int64_t>(atom.k)));
  std::vector<int> order = mm.batch;
  order.insert(order.end(), {m_block, n_block, m_group, n_group, m_copy, m_atom, n_copy, n_atom});
  // A loop of one iteration is not unrolled, so it must not be between the atom's axes.
  if (builder.size(n_copy) == 1) std::swap(order[order.size() - 3], order[order.size() - 2]);
  builder.reorder(order);
  builder.bind(m_group, Bind::kBlockY);
  builder.bind(n_group, Bind::kBlockZ);
  for (const int a : {m_copy, m_atom, n_copy, n_atom}) builder.unroll(a);
  stage_operands(builder, mm, k_block, threads);
  const auto [k_step, k_atom] = builder.split(k_inside, atom.k);
  builder.tensorize(m_atom, n_atom, k_atom, atom.subgroup);
  use_sums(builder, threads);
  multi_buffer_tiles(builder, k_block, mm);
  bind_blocks(builder, mm, m_block, n_block);
}

/// Atoms of several subgroups that read both operands from shared memory (warpgroup MMA). The
/// column loop is outermost in a tile, so that the tile of sums is small.
void schedule_tile_atoms(ScheduleBuilder& builder, const Matmul& mm, const MatrixAtom& atom,
                         int64_t tile) {
  const bool fills_one = 2 * builder.size(mm.m) > tile && 2 * builder.size(mm.n) > tile;
  if (tile < 2 * int64_t{std::max(atom.m, atom.n)} || !fills_one)
    return builder.give_up("a tile of several atoms");
  // A tile of twice the height reuses operands more; then one workgroup fills a unit's memory.
  const bool fills = count_blocks(builder, mm, 2 * tile, tile) >= builder.caps.compute_units;
  const int64_t high = builder.choose("rows", fills ? 2 * tile : tile, {tile, 2 * tile});
  const Threads threads{atom.subgroup, high / atom.m, 1};
  const auto [m_block, m_inside] = builder.split(mm.m, high);
  const auto [m_group, m_atom] = builder.split(m_inside, atom.m);
  const auto [n_block, n_inside] = builder.split(mm.n, tile);
  const auto [n_copy, n_atom] = builder.split(n_inside, atom.n);
  const auto [k_block, k_inside] = builder.split(mm.k, 4 * static_cast<int64_t>(atom.k));
  std::vector<int> order = mm.batch;
  order.insert(order.end(), {m_block, n_block, m_group, n_copy, m_atom, n_atom});
  builder.reorder(order);
  builder.bind(m_group, Bind::kBlockY);
  for (const int a : {n_copy, m_atom, n_atom}) builder.unroll(a);
  stage_operands(builder, mm, k_block, threads, true);
  const auto [k_step, k_atom] = builder.split(k_inside, atom.k);
  builder.tensorize(m_atom, n_atom, k_atom, atom.subgroup);
  use_sums(builder, threads);
  multi_buffer_tiles(builder, k_block, mm, high > tile ? 1 : 2);
  bind_blocks(builder, mm, m_block, n_block);
}

/// The device's atoms for the product's dtypes, largest first.
std::vector<MatrixAtom> atoms_for(const ScheduleBuilder& builder, const Matmul& mm) {
  const std::vector<const Statement*> reductions =
      builder.reductions(*path_to(const_cast<Kernel&>(builder.kernel), mm.m).back());
  const ReduceState& sum = reductions[0]->states[0];
  std::vector<MatrixAtom> all;
  const bool computed = mm.rows_computed || mm.columns_computed;
  if (!builder.caps.has(Op::MATRIX_MULTIPLY) || computed) return all;
  for (const MatrixAtom& atom : builder.caps.atoms) {
    const bool fits =
        atom.a == mm.rows_dtype && atom.b == mm.columns_dtype && atom.accumulator == sum.dtype &&
        builder.caps.keeps_promises(atom, sum.precision) &&
        static_cast<uint32_t>(4 * atom.subgroup) <= builder.caps.max_workgroup_threads;
    if (fits) all.push_back(atom);
  }
  std::ranges::stable_sort(all, std::greater(),
                           [](const MatrixAtom& atom) { return atom.m * atom.n * atom.k; });
  return all;
}

/// Largest tile: four subgroups hold its sums in registers, fewer sums if they are 64-bit.
int64_t most_tile(const MatrixAtom& atom) {
  return dtype_size(atom.accumulator) > 4 ? kMostTile / 2 : kMostTile;
}

/// Fuses column axes of short rows, such as those of an image, if the result stays contiguous.
/// Returns the outermost loop.
int with_long_rows(ScheduleBuilder& builder, int axis) {
  for (;;) {
    const std::vector<int> axes = builder.perfect_nest(builder.loop(axis));
    const std::optional<Contraction> c = find_contraction(builder, builder.loop(axis));
    if (!c || c->columns.size() < 2 || builder.size(axes.back()) >= kMostTile) return axis;
    const int inner = axes.back(), outer = axes[axes.size() - 2];
    if (!std::ranges::count(c->columns, inner) || !std::ranges::count(c->columns, outer))
      return axis;
    const int fused = builder.fuse_if(outer, inner, [&](int both) {
      return std::ranges::all_of(builder.stores(builder.loop(both)), [&](const Statement* s) {
        return builder.stride(s->index, both) == 1;
      });
    });
    if (fused < 0) return axis;
    if (outer == axis) axis = fused;
  }
}

/// Grouped convolutions: splits an axis of both operands, of which one divides it, into groups and
/// the channels of one. Returns the outermost loop.
int split_groups(ScheduleBuilder& builder, int axis) {
  const std::optional<Contraction> c = find_contraction(builder, builder.loop(axis));
  if (!c || !c->rows.empty()) return axis;
  for (const int a : c->batch) {
    const int64_t group = divisor_of(builder, {c->row, c->column}, a);
    if (group < 2 || !builder.extent(a).is_const() || builder.size(a) % group != 0) continue;
    const int groups = builder.split(a, group).first;
    if (a == axis) axis = groups;
  }
  return axis;
}

/// True if thin tiles occupy a share of the units. A few workgroups with long sums would be slower
/// than all units without tiles.
bool thin_tiles_fill(const ScheduleBuilder& builder, const Matmul& mm, double share) {
  constexpr int64_t kThinnest = kLeastTile / 2;
  return static_cast<double>(count_blocks(builder, mm, kThinnest, kThinnest)) >=
         share * std::max(1U, builder.caps.compute_units);
}

bool schedule_matmul_tiles(ScheduleBuilder& builder, int axis) {
  const std::optional<Matmul> found =
      find_matmul(builder, builder.loop(axis), builder.kind() != DeviceKind::kSpmd);
  if (!found || !builder.has_barriers() || builder.caps.max_workgroup_threads < 256) return false;
  const Matmul& mm = *found;
  for (const Bind place : {Bind::kBlockX, Bind::kBlockY, Bind::kBlockZ})
    if (builder.placed(place) != 0) return false;
  const int64_t fewer = std::min(builder.size(mm.m), builder.size(mm.n));
  const int64_t more = std::max(builder.size(mm.m), builder.size(mm.n));
  if (fewer < (builder.kind() == DeviceKind::kSpmd ? kLeastTile : 2) || more < kLeastTile ||
      builder.size(mm.k) < kLeastDepth)
    return false;
  for (const KernelBuffer& b : builder.kernel.buffers)
    if (b.space == BufferSpace::kGlobal && b.read && b.written) return false;
  // The largest tile that fits shared memory.
  const auto largest = [&](int64_t most, int64_t least, const auto& schedule) {
    for (int64_t tile = block_tile(builder, mm, most, least); tile >= kLeastTile / 2; tile /= 2) {
      const auto one = [&](ScheduleBuilder& trial) {
        schedule(trial, tile);
        return !trial.refusal() && fits_shared(trial) && fits_limits(trial.kernel, trial.caps);
      };
      if (builder.attempt(one)) return true;
    }
    return false;
  };
  // If blocks do not divide the sum, every copy has a mask and none runs ahead. Windows have no
  // other template.
  const bool whole = builder.extent(mm.k).is_const() && builder.size(mm.k) % kLeastDepth == 0;
  const bool windows = divisor_of(builder, {mm.rows, mm.columns}, mm.k) > 1;
  const auto is_fast = [&](double share) {
    return fewer >= kLeastTile || windows || thin_tiles_fill(builder, mm, share);
  };
  if (!is_fast(whole ? 0.125 : 2)) return false;
  for (const MatrixAtom& atom : atoms_for(builder, mm)) {
    const auto products = [&](ScheduleBuilder& trial, int64_t tile) {
      (atom.tiles ? schedule_tile_atoms : schedule_atoms)(trial, mm, atom, tile);
    };
    // Thinner tiles would use less than half of each memory transaction.
    if (largest(most_tile(atom), kLeastTile, products)) return true;
  }
  if ((fewer < kFewestRows && !windows) || !is_fast(whole ? 0.5 : 4)) return false;
  const auto registers = [&](ScheduleBuilder& trial, int64_t tile) {
    schedule_registers(trial, mm, tile);
  };
  const bool thin = tile_of(builder, mm, kMostTile).thin();
  return largest(kMostTile, thin ? kLeastTile / 2 : kLeastTile, registers);
}

}  // namespace

bool schedule_shared_tiles(ScheduleBuilder& builder, int axis) {
  const auto with = [&](ScheduleBuilder& trial) {
    if (trial.kind() == DeviceKind::kSpmd) return false;
    const int outermost = with_long_rows(trial, split_groups(trial, axis));
    return !trial.list.empty() && schedule_matmul_tiles(trial, outermost);
  };
  return builder.attempt(with) || schedule_matmul_tiles(builder, axis);
}

}  // namespace tenon
