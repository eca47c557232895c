// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds the blocks of an axis that a mask of positions, such as a causal mask, does not hide.
#pragma once

#include <optional>

#include "core/kernel/transforms/running_maximum.hpp"

namespace tenon {

struct UnmaskedBlocks {
  Expr begin, end;  ///< blocks outside [begin, end) are masked for the whole tile
  Expr masked;      ///< elements in the masked blocks
};

/// The value with conditions on positions as index expressions: these need no integer dtype.
KValueRef with_positions(const KValueRef& value);

/// A bool as a condition on positions; nothing if it depends on other values.
std::optional<Expr> condition_of(const KValueRef& value);

/// Blocks of `block` steps of axis `row`, for a tile of the axes `tile`. `around` is the path to
/// the reduction; its other loops give the tile's position. Nothing if no block is proven masked.
std::optional<UnmaskedBlocks> unmasked_blocks(const Kernel& kernel, const Masked& masked, int row,
                                              int64_t block, const std::vector<int>& tile,
                                              const std::vector<Statement*>& around);

}  // namespace tenon
