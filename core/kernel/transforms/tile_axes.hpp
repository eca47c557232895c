// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The axes of a staged tile. Loops whose sum indexes one line of the source, such as the pixels and
// taps of a convolution, become one axis of the tile, which holds each element of the line once.
#pragma once

#include <span>

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

struct TileAxis {
  struct Member {
    int axis = -1;
    int64_t step = 1;  ///< along the tile's axis; 1 for the first member
  };
  std::vector<Member> members;
  Expr extent;
  int64_t order = 0;  ///< stride in the source; larger is further out
  bool even = true;   ///< the stride is constant; else `order` is the largest
  int copy = -1;      ///< axis of the copy loop
  int64_t pitch = 1;  ///< elements between neighbours in the tile
  int64_t size() const { return std::max<int64_t>(1, extent.max()); }
};

/// Tile axes for a load, of the `loops` that it depends on and that run inside the tile; outermost
/// first. `inner` >= 0 makes that loop the innermost axis.
std::vector<TileAxis> tile_axes(const Kernel& kernel, const KValue& load,
                                std::span<const int> loops, int inner = -1);

/// The same for a value of several loads, of which `load` depends on most axes: one tile axis for
/// each loop.
std::vector<TileAxis> tile_axes_apart(const Kernel& kernel, const KValue& load,
                                      std::span<const int> loops, int inner = -1);

/// The guard for points of the tile, in the symbols of the copy loops.
Guard guard_of_copy(const Kernel& kernel, const Guard& guard, std::span<const TileAxis> tile);

/// The symbols of the loops in terms of those of the copy loops.
std::map<std::string, Expr> names_of_copy(const Kernel& kernel, std::span<const TileAxis> tile);

}  // namespace tenon
