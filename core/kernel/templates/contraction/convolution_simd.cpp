// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and their gradients on SIMD processors: the input of a block's windows is staged
// once, with filled edges, so that the loops need no masks.
#include <algorithm>
#include <array>

#include "core/kernel/templates/contraction/contraction.hpp"

namespace tenon {
namespace {

/// True if the loops read some elements twice: neither runs within one step of the other.
bool interleave(const ScheduleBuilder& builder, const Expr& index, int a, int b) {
  const auto x = builder.stride(index, a), y = builder.stride(index, b);
  return x && y && *x > 0 && *y > 0 && *x <= *y * (builder.size(b) - 1) &&
         *y <= *x * (builder.size(a) - 1);
}

bool has_windows(const ScheduleBuilder& builder, const Contraction& c) {
  if (c.row_value != c.row || c.column_value != c.column) return false;
  if (!c.row->mask.is_const(1)) return false;
  if (!c.column->mask.is_const(1)) return true;
  return std::ranges::any_of(c.columns, [&](int pixel) {
    return std::ranges::any_of(
        c.sum, [&](int tap) { return interleave(builder, c.column->index, pixel, tap); });
  });
}

/// Utilisation of tiles of `tile` that cover `whole`, from 0 to 1.
double filled(int64_t whole, int64_t tile) {
  const int64_t tiles = (whole + tile - 1) / tile;
  return static_cast<double>(whole) / static_cast<double>(tiles * tile);
}

/// A tile of accumulators: rows by vectors along the last column axis by lines of the one before.
struct WindowTile {
  int64_t rows = 1, vectors = 1, lines = 1;
};

/// For contractions without rows, such as depthwise convolutions: enough lines to hide latency.
WindowTile tile_without_rows(const ScheduleBuilder& builder, const Contraction& c) {
  constexpr int64_t kMostLines = 12;
  if (c.columns.size() < 2) return {};
  const int64_t lines = tile_rows(kMostLines, builder.extent(c.columns[c.columns.size() - 2]));
  return {1, 1, builder.choose("lines", lines, {1, 4})};
}

WindowTile best_tile(const ScheduleBuilder& builder, const Contraction& c, int64_t lanes) {
  if (c.rows.empty()) return tile_without_rows(builder, c);
  constexpr std::pair<int64_t, int64_t> kShapes[] = {{2, 1}, {3, 1}, {1, 2},
                                                     {1, 3}, {4, 1}, {1, 1}};
  const int64_t registers = builder.caps.vector_registers ? builder.caps.vector_registers : 16;
  const int m = c.rows.back(), n = c.columns.back();
  const int64_t above = c.columns.size() > 1 ? builder.size(c.columns[c.columns.size() - 2]) : 1;
  WindowTile best;
  double best_rate = 0;
  for (const auto& [vectors, lines] : kShapes) {
    if (lines > above) continue;
    const int64_t across = vectors * lines;
    const int64_t most = std::min<int64_t>(14, registers * 3 / 4 / across);
    const WindowTile tile{tile_rows(most, builder.extent(m)), vectors, lines};
    // Loads of a step: rows, and vectors, which cost more as they may cross cache lines.
    const auto loads = static_cast<double>(tile.rows + 4 * across);
    const double rate = filled(builder.size(n), vectors * lanes) * filled(above, lines) *
                        filled(builder.size(m), tile.rows) *
                        std::min(1.0, static_cast<double>(tile.rows * across) / loads);
    if (rate > best_rate * 1.01) best_rate = rate, best = tile;
  }
  return best;
}

/// Vectorises the copy of the last staged tile if its source is contiguous or its index needs
/// divisions. Without rows short lines are unrolled, so that only their ends have masks.
void vectorize_copy(ScheduleBuilder& builder, const Contraction& c, int64_t lanes) {
  constexpr int64_t kShortLine = 8;  // in vectors
  const int last = static_cast<int>(builder.kernel.axes.size()) - 1;
  const std::vector<KValueRef> source = builder.loads(builder.loop(last));
  const auto stride = builder.stride(source[0]->index, last);
  if (builder.size(last) < lanes / 2 || (stride && *stride != 1)) return;
  const auto [vectors, lane] = builder.split(last, lanes);
  builder.vectorize(lane);
  if (c.rows.empty() && stride && vectors != lane && builder.extent(vectors).is_const() &&
      builder.size(vectors) <= kShortLine)
    builder.unroll(vectors);
}

int64_t staged_bytes(const ScheduleBuilder& builder) {
  const KernelBuffer& tile = builder.kernel.buffers.back();
  return tile.count.max() * static_cast<int64_t>(dtype_size(tile.dtype));
}

/// True if the staged tile fits the private cache; without rows, which reuse little, the nearest
/// one.
bool fits_windows(const ScheduleBuilder& builder, const Contraction& c) {
  const int64_t bytes = staged_bytes(builder);
  const auto l1 = static_cast<int64_t>(builder.caps.l1_bytes);
  const int64_t nearest = (l1 ? l1 : 32 << 10) / 2;
  return bytes <= (c.rows.empty() ? nearest : private_cache(builder)) &&
         (builder.caps.max_scratch_bytes == 0 || bytes <= builder.caps.max_scratch_bytes);
}

/// Blocks of `block` tiles along column axis number `at`. Returns false, with steps done, if the
/// staged input does not fit.
bool schedule_blocks(ScheduleBuilder& builder, const Contraction& c, const WindowTile& tile,
                     size_t at, int64_t block) {
  const int64_t lanes = builder.lanes(builder.loop(c.columns.back()));
  std::vector<int> rows = c.rows;
  if (!rows.empty()) {
    const auto [m_tiles, m_copy] = builder.split(rows.back(), tile.rows);
    builder.unroll(m_copy);
    rows.back() = m_tiles;
  }
  std::vector<int> tiles = c.columns;
  const auto [n_tiles, n_inside] = builder.split(tiles.back(), lanes * tile.vectors);
  tiles.back() = n_tiles;
  int n_lane = n_inside;
  if (tile.vectors > 1) {
    const auto [copy, lane] = builder.split(n_inside, lanes);
    builder.unroll(copy);
    n_lane = lane;
  }
  builder.vectorize(n_lane);
  if (tile.lines > 1) {
    int& lines = tiles[tiles.size() - 2];
    const auto [outer, copy] = builder.split(lines, tile.lines);
    lines = outer;
    builder.unroll(copy);
  }
  const auto [blocks, inside] = builder.split(tiles[at], block);
  std::vector<int> order = c.batch;
  order.insert(order.end(), tiles.begin(), tiles.begin() + static_cast<std::ptrdiff_t>(at));
  order.push_back(blocks);
  order.insert(order.end(), rows.begin(), rows.end());
  if (inside != blocks) order.push_back(inside);
  order.insert(order.end(), tiles.begin() + static_cast<std::ptrdiff_t>(at) + 1, tiles.end());
  builder.reorder(order);
  if (builder.refusal() || !builder.stage(c.column->buffer, blocks) || !fits_windows(builder, c))
    return false;
  vectorize_copy(builder, c, lanes);
  bind_grid(builder, blocks, 1);
  if (at > 0) bind_grid(builder, tiles[0], 1, Bind::kGridY);
  if (!c.batch.empty()) bind_grid(builder, c.batch.front(), 1, Bind::kGridZ);
  return !builder.refusal();
}

/// Lanes along the last column axis, with the largest blocks that fit and occupy all cores.
bool schedule_pixels(ScheduleBuilder& builder, const Contraction& c) {
  const int64_t lanes = builder.lanes(builder.loop(c.columns.back()));
  WindowTile tile = best_tile(builder, c, lanes);
  if (!c.rows.empty()) tile.rows = builder.choose("rows", tile.rows, {4, 6, 8});
  int64_t outer_blocks = 1;
  for (const int a : c.batch) outer_blocks *= builder.size(a);
  for (size_t at = 0; at < c.columns.size(); ++at) {
    const bool last = at + 1 == c.columns.size(), above = at + 2 == c.columns.size();
    const int64_t each = last ? lanes * tile.vectors : above ? tile.lines : 1;
    const int64_t tiles = (builder.size(c.columns[at]) + each - 1) / each;
    const int64_t cores = std::max<int64_t>(1, builder.caps.compute_units), wanted = 8 * cores;
    // Blocks of whole images if there are enough for all cores.
    const bool enough = last || outer_blocks * tiles >= 2 * cores;
    for (int64_t blocks = std::clamp<int64_t>(wanted / outer_blocks, 1, tiles); enough;
         blocks *= 2) {
      const int64_t block = (tiles + blocks - 1) / std::min(blocks, tiles);
      if (builder.attempt(
              [&](ScheduleBuilder& b) { return schedule_blocks(b, c, tile, at, block); }))
        return true;
      if (blocks >= tiles) break;
    }
    outer_blocks *= tiles;
  }
  return false;
}

bool lies_along(const ScheduleBuilder& builder, const KValueRef& v, int axis) {
  return builder.stride(v->index, axis) == 1;
}

/// Lanes along the last reduce axis, for gradients of a convolution's weights: their results have
/// few contiguous columns.
bool schedule_taps(ScheduleBuilder& builder, const Contraction& c, bool at_columns) {
  const int64_t lanes = builder.lanes(builder.loop(c.columns.back()));
  const int64_t registers = builder.caps.vector_registers ? builder.caps.vector_registers : 16;
  const int64_t taps = tile_rows(4, builder.extent(c.columns.back()));
  const int64_t rows =
      tile_rows(std::min<int64_t>(14, registers * 3 / 4 / taps), builder.extent(c.rows.back()));
  const auto [m_tiles, m_copy] = builder.split(c.rows.back(), rows);
  builder.unroll(m_copy);
  std::vector<int> tiles = c.columns;
  const auto [n_tiles, n_copy] = builder.split(tiles.back(), taps);
  tiles.back() = n_tiles;
  builder.unroll(n_copy);
  std::vector<int> order = c.batch;
  order.insert(order.end(), c.rows.begin(), c.rows.end() - 1);
  order.push_back(m_tiles);
  order.insert(order.end(), tiles.begin(), tiles.end());
  builder.reorder(order);
  builder.vectorize(builder.split(c.sum.back(), lanes).second);
  const int at = at_columns ? tiles.front() : c.sum.front();
  if (builder.refusal() || !builder.stage(c.column->buffer, at) || !fits_windows(builder, c))
    return false;
  vectorize_copy(builder, c, lanes);
  bind_grid(builder, tiles.front(), 1);
  bind_grid(builder, m_tiles, 1, Bind::kGridY);
  if (!c.batch.empty()) bind_grid(builder, c.batch.front(), 1, Bind::kGridZ);
  return !builder.refusal();
}

/// Stages the column operand for all rows if it fits, else for each step of the outermost reduce
/// axis.
bool schedule_taps(ScheduleBuilder& builder, const Contraction& c) {
  const int last = c.sum.back();
  if (!lies_along(builder, c.row, last) || !lies_along(builder, c.column, last) ||
      builder.size(last) < builder.lanes(builder.loop(c.columns.back())) / 2)
    return false;
  return std::ranges::any_of(std::array{true, false}, [&](bool at_columns) {
    return builder.attempt([&](ScheduleBuilder& b) { return schedule_taps(b, c, at_columns); });
  });
}

/// The convolution at index `place` of the kernel's body, if it is large enough.
std::optional<Contraction> find_convolution(const ScheduleBuilder& builder, size_t place) {
  const Statement& nest = builder.kernel.body[place];
  std::optional<Contraction> c = find_contraction(builder, nest);
  if (!c || c->columns.empty() || !has_windows(builder, *c)) return std::nullopt;
  for (const Statement* s : builder.stores(nest))
    if (builder.stride(s->index, c->columns.back()) != 1) return std::nullopt;
  int64_t terms = 1;
  for (const int a : c->sum) terms *= builder.size(a);
  // The copy pays from so many rows and terms on.
  constexpr int64_t kLeastRows = 4, kLeastTerms = 16;
  const bool pays =
      builder.lanes(nest) >= 2 &&
      (c->rows.empty() ? terms >= 4
                       : builder.size(c->rows.back()) >= kLeastRows && terms >= kLeastTerms);
  return pays ? c : std::nullopt;
}

bool fills_lanes(ScheduleBuilder& builder, const Contraction& c) {
  const int last = c.columns.back();
  return filled(builder.size(last), builder.lanes(builder.loop(last))) >= 0.75;
}

/// Fuses the last column axes while they are too short for lanes.
void fuse_columns(ScheduleBuilder& builder, size_t place) {
  for (;;) {
    const std::optional<Contraction> c = find_contraction(builder, builder.kernel.body[place]);
    if (!c || c->columns.size() < 2 || fills_lanes(builder, *c)) return;
    const size_t last = c->columns.size() - 1;
    if (builder.fuse_if(c->columns[last - 1], c->columns[last], [](int) { return true; }) < 0)
      return;
  }
}

/// Lanes along the rows (the output channels) instead of the pixels, if lines of pixels would leave
/// lanes idle.
bool schedule_outputs(ScheduleBuilder& builder, size_t place) {
  std::optional<Contraction> c = find_convolution(builder, place);
  if (!c) return false;
  const int64_t lanes = builder.lanes(builder.kernel.body[place]);
  if (c->rows.empty()) return false;
  const int64_t outputs = builder.size(c->rows.back()), pixels = builder.size(c->columns.back());
  constexpr int64_t kLeastPixels = 4;
  if (pixels < kLeastPixels || filled(outputs, lanes) <= 1.05 * filled(pixels, lanes)) return false;
  std::vector<int> order = c->batch;
  order.insert(order.end(), c->columns.begin(), c->columns.end());
  order.insert(order.end(), c->rows.begin(), c->rows.end());
  builder.reorder(order);
  c = find_contraction(builder, builder.kernel.body[place]);
  return c && schedule_packed(builder, *c);
}

}  // namespace

bool schedule_convolution(ScheduleBuilder& builder, int axis) {
  const auto nest = std::ranges::find(builder.kernel.body, axis, &Statement::axis);
  const auto place = static_cast<size_t>(nest - builder.kernel.body.begin());
  if (!find_contraction(builder, *nest)) return false;
  // Lanes are output channels, pixels of a line, pixels of all lines, or the reduce axis.
  const auto lines = [&](ScheduleBuilder& trial) {
    split_divided(trial, place, Divided::kSum);
    split_divided(trial, place, Divided::kColumns);
    const auto c = find_convolution(trial, place);
    return c && fills_lanes(trial, *c) && schedule_pixels(trial, *c);
  };
  const auto outputs = [&](ScheduleBuilder& trial) {
    split_divided(trial, place, Divided::kSum);
    split_divided(trial, place, Divided::kColumns);
    return schedule_outputs(trial, place);
  };
  const auto flat = [&](ScheduleBuilder& trial) {
    split_divided(trial, place, Divided::kSum);
    fuse_columns(trial, place);
    const auto c = find_convolution(trial, place);
    return c && fills_lanes(trial, *c) && schedule_pixels(trial, *c);
  };
  const auto taps = [&](ScheduleBuilder& trial) {
    split_divided(trial, place, Divided::kSum);
    split_divided(trial, place, Divided::kColumns);
    const auto c = find_convolution(trial, place);
    return c && !c->rows.empty() && schedule_taps(trial, *c);
  };
  return builder.attempt(outputs) || builder.attempt(lines) || builder.attempt(flat) ||
         builder.attempt(taps);
}

}  // namespace tenon
