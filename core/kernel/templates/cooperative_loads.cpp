// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/templates/cooperative_loads.hpp"

#include <algorithm>
#include <bit>

#include "core/kernel/templates/contraction/contraction.hpp"
#include "core/kernel/tree/register_tiles.hpp"

namespace tenon {
namespace {

constexpr int64_t kBankRow = 128;  ///< bytes of all 32 banks of shared memory

/// Bytes of an element of the last staged tile.
int64_t tile_element(const ScheduleBuilder& builder) {
  return builder.caps.tile_bytes(builder.kernel.buffers.back().dtype);
}

/// Neighbouring threads copy `across` bytes of several rows at once. Returns the distance between
/// their rows that avoids bank conflicts; 1 if none does.
int64_t row_step(const ScheduleBuilder& builder, int row, int64_t across) {
  int64_t pitch = 0;
  Expr rest;
  walk(builder.kernel.body, [&](const Statement& s) {
    const KernelBuffer& tile = builder.kernel.buffers.back();
    int64_t apart = 0;
    if (s.kind == Statement::Kind::kStore && &builder.kernel.buffers[s.buffer] == &tile &&
        s.index.linear_in(builder.kernel.axes[row].name, apart, rest) && apart > 0)
      pitch = apart * builder.caps.tile_bytes(tile.dtype);
  });
  const int64_t rows = kBankRow / across;
  if (pitch == 0 || rows < 2) return 1;
  const auto conflicts = [&](int64_t step) {
    for (int64_t j = 1; j < rows; ++j) {
      const int64_t at = j * step * pitch % kBankRow;
      if (at < across || at > kBankRow - across) return true;
    }
    return false;
  };
  for (int64_t step = 1; step * rows <= builder.size(row); step *= 2)
    if (!conflicts(step)) return step;
  return 1;
}

/// Number of axes that count rows of the tile, outside of its contiguous axes; 0 if the tile is
/// contiguous or strides are unknown.
size_t rows_of(ScheduleBuilder& builder, const std::vector<int>& axes) {
  const std::vector<const Statement*> stores = builder.stores(builder.loop(axes.front()));
  if (stores.size() != 1) return 0;
  const auto pitch = [&](int axis) { return builder.stride(stores[0]->index, axis); };
  size_t rows = axes.size() - 1;
  for (; rows > 0; --rows) {
    const auto inner = pitch(axes[rows]), outer = pitch(axes[rows - 1]);
    if (!inner || !outer || !builder.extent(axes[rows]).is_const()) return 0;
    if (*outer != *inner * builder.size(axes[rows])) break;
  }
  return rows;
}

/// If an index divides rows by a small constant, such as the taps of a window, unrolls that many
/// rows, outermost, so that the division folds. Returns the remaining loop.
int unroll_repeats(ScheduleBuilder& builder, int row) {
  constexpr int64_t kMost = 16;
  const int64_t repeats = divisor_of(builder, builder.loads(builder.loop(row)), row);
  if (repeats < 2 || repeats > kMost || builder.size(row) % repeats != 0) return row;
  const auto [rest, one] = builder.split(row, repeats);
  builder.reorder({one, rest});
  builder.unroll(one);
  return rest;
}

}  // namespace

void spread_over_block(ScheduleBuilder& builder, std::vector<int> axes, const Threads& threads,
                       int64_t lanes, bool on_y_and_z) {
  if (const size_t rows = rows_of(builder, axes); rows > 0) {
    const auto first = axes.begin(), middle = first + static_cast<std::ptrdiff_t>(rows);
    axes = {builder.fuse_all({first, middle}), builder.fuse_all({middle, axes.end()})};
  } else {
    axes = builder.fuse_contiguous(std::move(axes));
  }
  while (axes.size() > 2) {  // rows of a symbolic length
    axes[0] = builder.fuse(axes[0], axes[1]);
    axes.erase(axes.begin() + 1);
  }
  int row = -1, column = axes.back();
  if (axes.size() == 2) row = unroll_repeats(builder, axes[0]);
  while (lanes > 1 && builder.size(column) % lanes != 0) lanes /= 2;
  if (lanes > 1) {
    const auto [rest, lane] = builder.split(column, lanes);
    builder.vectorize(lane);
    column = rest;
  }
  int64_t across = std::min(threads.x, builder.size(column));
  across = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(across)));
  if (row < 0) {
    std::tie(row, column) = builder.split(column, across);
  } else if (builder.size(column) > across) {
    const bool is_part = across < threads.x;  // the other threads take other rows
    if (is_part && !builder.extent(column).is_const())
      return builder.give_up("a constant number of columns");
    if (is_part) across = std::min(across, builder.size(column) & -builder.size(column));
    const auto [rest, inner] = builder.split(column, across);
    if (is_part) builder.reorder({rest, row, inner});
    builder.unroll(rest);
    // The rest of the columns is inside or outside the rows; threads are innermost.
    column = inner;
  }
  const int64_t others = on_y_and_z ? threads.y * threads.z : 1;
  const int64_t down = threads.x / across;
  int inner = -1;
  std::tie(row, inner) = builder.split(row, down * others);
  builder.unroll(row);
  if (others > 1 || on_y_and_z) {
    const auto [far, near] = builder.split(inner, down);
    if (threads.across > 0) {
      builder.bind(far, Bind::kBlockZ);
    } else if (threads.z > 1) {
      const auto [y, z] = builder.split(far, threads.z);
      builder.bind(y, Bind::kBlockY);
      builder.bind(z, Bind::kBlockZ);
    } else {
      builder.bind(far, Bind::kBlockY);
    }
    inner = near;
  }
  if (down > 1) {
    const int64_t step =
        on_y_and_z ? row_step(builder, inner, across * lanes * tile_element(builder)) : 1;
    if (step > 1) {
      const auto [far, near] = builder.split(inner, step);
      builder.reorder({near, far});
      inner = builder.fuse(near, far);
    }
    column = builder.fuse(inner, column);
  }
  if (threads.across > 0) {
    const auto [y, x] = builder.split(column, threads.across);
    builder.bind(y, Bind::kBlockY);
    column = x;
  }
  if (!builder.bind(column, Bind::kBlockX)) builder.give_up("a copy that threads share");
}

std::vector<int> copy_loops(ScheduleBuilder& builder) {
  const int tile = static_cast<int>(builder.kernel.buffers.size()) - 1;
  std::vector<int> axes;
  walk(std::as_const(builder.kernel).body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kStage && s.buffer == tile)
      axes = builder.perfect_nest(s.body[0]);
  });
  return axes;
}

int64_t shared_bytes(const ScheduleBuilder& builder, bool staged_only) {
  std::vector<bool> staged(builder.kernel.buffers.size(), !staged_only);
  walk(builder.kernel.body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kStage) staged[static_cast<size_t>(s.buffer)] = true;
  });
  const std::optional<Kernel> placed = with_register_tiles(builder.kernel, builder.caps);
  const Kernel& kernel = placed ? *placed : builder.kernel;
  int64_t bytes = 0;
  for (size_t i = 0; i < staged.size(); ++i) {
    const KernelBuffer& b = kernel.buffers[i];
    if (!staged[i] || b.space != BufferSpace::kShared || !b.written) continue;
    const int64_t unit = b.swizzled ? kPatternBytes : 64;
    bytes = (bytes + unit - 1) / unit * unit + b.count.value() * builder.caps.tile_bytes(b.dtype);
  }
  return bytes;
}

bool fits_shared(const ScheduleBuilder& builder) {
  return shared_bytes(builder, false) <= builder.caps.max_shared_bytes;
}

}  // namespace tenon
