// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packed contractions on SIMD processors, for rows that are slow to read in place: windows with
// edges, and rows strided along the sum. Rows and columns are packed for a block of the sum at a
// time, while a tile holds the sums of a part of the result.
#include <algorithm>
#include <cstdlib>

#include "core/kernel/templates/contraction/contraction.hpp"

namespace tenon {
namespace {

/// A part of the result. Its rows are packed once for all of its column panels.
struct Part {
  size_t at = 0;  ///< row axis that is split in blocks; axes further out are split in single rows
  int64_t block = 1;   ///< iterations of that axis; register tiles if it is the last
  int64_t panels = 1;  ///< of columns
  int64_t count = 1;   ///< number of parts
  double time = 0;     ///< of the busiest core, in multiply-adds
};

struct Panels {
  int64_t lanes = 1, all = 1;
  RegisterTile tile;
  int64_t columns() const { return lanes * tile.vectors; }
};

int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }

/// The smallest number of parts in [least, 2 least) that divides the length; else `least`.
int64_t parts_that_divide(int64_t length, int64_t least) {
  for (int64_t parts = least; parts < 2 * least; ++parts)
    if (length % parts == 0) return parts;
  return least;
}

double elements(const ScheduleBuilder& builder, const KValueRef& load) {
  return static_cast<double>(builder.kernel.buffers[load->buffer].count.max());
}

int64_t product(const ScheduleBuilder& builder, std::span<const int> axes) {
  int64_t out = 1;
  for (const int a : axes) out *= builder.size(a);
  return out;
}

/// Candidate parts whose sums fit the private cache, at least one or two a core; fastest first.
std::vector<Part> parts_of(const ScheduleBuilder& builder, const Contraction& c, const Panels& p) {
  constexpr double kPack = 32;     // cost of packing an element, in multiply-adds
  constexpr double kAlone = 1.03;  // penalty of one part a core: no load balancing
  const int64_t cores = std::max<int64_t>(1, builder.caps.compute_units);
  const int64_t batch = product(builder, c.batch);
  const int64_t others = product(builder, std::span(c.columns).first(c.columns.size() - 1));
  const int64_t panel_bytes =
      p.columns() * static_cast<int64_t>(dtype_size(c.column->dtype)) * others;
  std::vector<Part> parts;
  for (size_t at = 0; at < c.rows.size(); ++at) {
    const std::span<const int> rows(c.rows);
    const bool known =
        std::ranges::all_of(rows.subspan(at), [&](int a) { return builder.extent(a).is_const(); });
    if (!known) continue;
    const bool last = at + 1 == rows.size();
    const int64_t height = last ? p.tile.rows : product(builder, rows.subspan(at + 1));
    const int64_t tiles = divided(builder.size(rows[at]), last ? p.tile.rows : 1);
    for (int64_t cut = 1; cut < 2 * tiles; cut *= 2) {
      Part part{at, divided(tiles, std::min(cut, tiles))};
      const int64_t blocks = product(builder, rows.first(at)) * divided(tiles, part.block) * batch;
      const int64_t fit = 2 * private_cache(builder) / (part.block * height * panel_bytes);
      if (fit < 1) continue;
      const double products = static_cast<double>(part.block * height * others * p.columns()) *
                              static_cast<double>(product(builder, c.sum));  // of a panel
      for (const int64_t wanted : {2 * cores, cores}) {
        const int64_t least = std::max(divided(p.all, fit), divided(wanted, blocks));
        part.panels = divided(p.all, parts_that_divide(p.all, std::min(least, p.all)));
        const int64_t groups = divided(p.all, part.panels);
        part.count = blocks * groups;
        const double packed =
            elements(builder, c.row) * static_cast<double>(groups) +
            elements(builder, c.column) * static_cast<double>(blocks) / static_cast<double>(batch);
        part.time = products * static_cast<double>(divided(part.count, cores) * part.panels) +
                    kPack * packed / static_cast<double>(std::min(cores, part.count));
        if (cores > 1 && part.count < 2 * cores) part.time *= kAlone;
        parts.push_back(part);
      }
    }
  }
  std::ranges::stable_sort(parts, {}, &Part::time);
  return parts;
}

int64_t bytes_of_last_tile(const ScheduleBuilder& builder) {
  const KernelBuffer& tile = builder.kernel.buffers.back();
  return tile.count.max() * static_cast<int64_t>(dtype_size(tile.dtype));
}

/// Vectorises the epilogue along the contiguous axis of the result.
void vectorize_epilogue(ScheduleBuilder& builder, int row, int lane) {
  const auto copy_of = [&](int axis) {
    return builder.kernel.axis(builder.kernel.axes[axis].name + ".c");
  };
  const int rows = copy_of(row), lanes = copy_of(lane);
  const std::vector<const Statement*> stores = builder.stores(builder.loop(lanes));
  const bool along_rows = std::ranges::all_of(
      stores, [&](const Statement* s) { return builder.stride(s->index, rows) == 1; });
  const int64_t height = builder.size(rows);
  if (!along_rows || height < 4 || floor_pow2(height) != height) return builder.vectorize(lanes);
  builder.vectorize(rows);
  builder.unroll(lanes);
}

/// One part for each workgroup, with the sum in `blocks` blocks. Returns false, with steps done, if
/// the packed operands do not fit.
bool schedule_part(ScheduleBuilder& builder, const Contraction& c, const Panels& p,
                   const Part& part, int64_t blocks) {
  const auto [row_tiles, row_copy] = builder.split(c.rows.back(), p.tile.rows);
  std::vector<int> rows = c.rows;
  rows.back() = row_tiles;
  const auto [all_panels, columns] = builder.split(c.columns.back(), p.columns());
  const auto [column_copy, lane] = builder.split(columns, p.lanes);
  const auto [groups, panel] = builder.split(all_panels, part.panels);
  const auto [outer, inner] = builder.split(rows[part.at], part.block);
  const auto [sum_blocks, sum] =
      builder.split(c.sum.front(), divided(builder.size(c.sum.front()), blocks));
  std::vector<int> order = c.batch;
  const auto at = rows.begin() + static_cast<std::ptrdiff_t>(part.at);
  order.insert(order.end(), rows.begin(), at);
  order.insert(order.end(), {outer, groups});
  order.insert(order.end(), c.columns.begin(), c.columns.end() - 1);
  order.insert(order.end(), {panel, inner});
  order.insert(order.end(), at + 1, rows.end());
  order.insert(order.end(), {row_copy, column_copy, lane});
  builder.reorder(order);
  if (builder.refusal() || !builder.compute_at(sum, groups)) return false;
  builder.unroll(row_copy);
  builder.unroll(column_copy);
  builder.vectorize(lane);
  // Padded: strides of a power of two would conflict in the nearest cache.
  if (!builder.stage(c.row->buffer, sum_blocks, p.lanes)) return false;
  const int64_t packed_rows = bytes_of_last_tile(builder);
  pack_last_tile(builder, p.lanes);
  if (!builder.stage(c.column->buffer, panel)) return false;
  const int64_t packed = packed_rows + bytes_of_last_tile(builder);
  pack_last_tile(builder, p.lanes);
  if (packed > private_cache(builder)) return false;
  vectorize_epilogue(builder, row_copy, lane);
  bind_grid(builder, groups, 1);
  bind_grid(builder, outer, 1, Bind::kGridY);
  if (part.at > 0)
    bind_grid(builder, rows.front(), 1, Bind::kGridZ);
  else if (!c.batch.empty())
    bind_grid(builder, c.batch.front(), 1, Bind::kGridZ);
  return !builder.refusal();
}

}  // namespace

void pack_last_tile(ScheduleBuilder& builder, int64_t lanes) {
  constexpr int64_t kMostVectors = 4;  // of a panel, unrolled
  const int last = static_cast<int>(builder.kernel.axes.size()) - 1;
  const std::string& name = builder.kernel.axes[last].name;
  std::vector<int> axes;  // of the copy, outermost first
  const std::string tile = name.substr(0, name.rfind('c'));
  for (int i = 0, a; (a = builder.kernel.axis(tile + "c" + std::to_string(i))) >= 0; ++i)
    axes.push_back(a);
  const auto source = [&] { return builder.loads(builder.loop(axes.back()))[0]; };
  const auto stride = [&](int axis) { return builder.stride(source()->index, axis).value_or(0); };
  // Fuses axes that are contiguous in the source.
  const auto fuse_inwards = [&](size_t end) {
    while (end > 1 && source()->mask.is_const(1) &&
           stride(axes[end - 2]) == stride(axes[end - 1]) * builder.size(axes[end - 1])) {
      axes[end - 2] = builder.fuse(axes[end - 2], axes[end - 1]);
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(end) - 1);
      --end;
    }
    return axes[end - 1];
  };
  const int64_t along = stride(axes.back());
  if (along == 1 || along == 0) {
    const int line = along == 1 && !builder.extent(axes.back()).is_const(lanes)
                         ? fuse_inwards(axes.size())
                         : axes.back();
    if (builder.size(line) < lanes / 2) return;
    builder.vectorize(builder.extent(line).is_const(lanes) ? line
                                                           : builder.split(line, lanes).second);
    if (axes.size() > 1 && line == axes.back() &&
        builder.size(axes[axes.size() - 2]) <= kMostVectors)
      builder.unroll(axes[axes.size() - 2]);
    return;
  }
  // Lanes across the source: squares that are transposed in registers, if the source allows.
  if (!builder.extent(axes.back()).is_const(lanes)) return;
  if (axes.size() > 1 && std::abs(stride(axes[axes.size() - 2])) == 1) {
    const int line = fuse_inwards(axes.size() - 1);
    if (builder.size(line) > lanes)
      builder.unroll(builder.split(line, lanes).second);
    else if (builder.size(line) >= lanes / 2)
      builder.unroll(line);
  }
  builder.vectorize(axes.back());
}

bool schedule_packed(ScheduleBuilder& builder, const Contraction& c) {
  constexpr int64_t kLeastTerms = 128, kSquare = 8;
  for (const int a : {c.columns.back(), c.sum.front()})
    if (!builder.extent(a).is_const()) return false;
  Panels p;
  p.lanes = builder.lanes(builder.loop(c.columns.back()));
  const int64_t vectors = divided(builder.size(c.columns.back()), p.lanes);
  p.tile = best_tile(builder, builder.size(c.rows.back()), vectors, true);
  // The epilogue transposes squares of eight rows in registers.
  if (builder.size(c.rows.back()) % kSquare == 0 && p.tile.rows > kSquare) p.tile.rows = kSquare;
  p.all = divided(vectors, p.tile.vectors);
  const int64_t length = builder.size(c.sum.front());
  const int64_t steps = product(builder, c.sum) / length;
  const int64_t bytes = static_cast<int64_t>(dtype_size(c.column->dtype)) * p.columns();
  for (const Part& part : parts_of(builder, c, p)) {
    int64_t blocks = std::max<int64_t>(1, length * steps * bytes / private_cache(builder));
    for (; blocks == 1 || length * steps / blocks >= kLeastTerms;
         blocks = parts_that_divide(length, blocks + 1)) {
      if (blocks > length) break;
      if (builder.attempt([&](ScheduleBuilder& b) { return schedule_part(b, c, p, part, blocks); }))
        return true;
    }
  }
  return false;
}

}  // namespace tenon
