// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The axes of a staged tile. Loops that walk one line of the source together, as the pixels of a
// row and the taps of a window over it do, are one axis of the tile, which holds each element of
// the line once.
#pragma once

#include <span>

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

struct TileAxis {
  struct Member {
    int axis = -1;
    int64_t step = 1;  ///< along the tile's axis; 1 for the first of them
  };
  std::vector<Member> members;
  Expr extent;
  int64_t order = 0;  ///< larger is further out
  bool even = true;   ///< every step goes as far in the source; else `order` is the longest
  int copy = -1;      ///< the axis of the copy loop
  int64_t pitch = 1;  ///< elements between neighbours in the tile
  int64_t size() const { return std::max<int64_t>(1, extent.max()); }
};

/// Of the loops that a load depends on and that run inside the tile: the outermost axis first. The
/// loop `inner`, if one is named, is the innermost axis.
std::vector<TileAxis> tile_axes(const Kernel& kernel, const KValue& load,
                                std::span<const int> loops, int inner = -1);

/// The same for what is computed from several loads, of which this one moves most: an axis for each
/// loop.
std::vector<TileAxis> tile_axes_apart(const Kernel& kernel, const KValue& load,
                                      std::span<const int> loops, int inner = -1);

/// What the guard asks of points of the tile, whose axes have the symbols of their copy loops.
Guard guard_of_copy(const Kernel& kernel, const Guard& guard, std::span<const TileAxis> tile);

/// Every symbol of the loops as it is where the tile's axes stand at their copy loops.
std::map<std::string, Expr> names_of_copy(const Kernel& kernel, std::span<const TileAxis> tile);

}  // namespace tenon
