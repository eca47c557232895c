// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of online_softmax: a value for each step of a block and each position of the tile's axes,
// as rows of positions or as rows of steps.
#pragma once

#include "core/kernel/transforms/tile_loops.hpp"

namespace tenon {

struct BlockTiles {
  int64_t across = 0, down = 0;
  int64_t room = 0;          ///< bytes of padding after each row
  bool steps_inner = false;  ///< steps are contiguous, else positions

  int64_t pitch(DType dtype) const {
    return across + room / static_cast<int64_t>(dtype_size(dtype));
  }
  bool fits() const { return room <= kMostOfTile && (across + room) * down <= kMostOfTile; }
  int add(Kernel& kernel, const std::string& what, DType dtype) const {
    return add_tile(kernel, what, dtype, pitch(dtype) * down);
  }
  Expr place(const KernelBuffer& tile, const Expr& step, const Expr& position) const {
    const int64_t row = pitch(tile.dtype);
    return steps_inner ? position * row + step : step * row + position;
  }
};

}  // namespace tenon
