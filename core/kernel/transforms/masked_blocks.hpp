// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which blocks of an axis a mask of positions shows anything of, for a tile of positions.
#pragma once

#include <optional>

#include "core/kernel/transforms/running_maximum.hpp"

namespace tenon {

struct UnmaskedBlocks {
  Expr begin, end;  ///< blocks outside [begin, end) are hidden from all of the tile
  Expr hidden;      ///< elements in those
};

/// The value with conditions on positions as what they are, which needs no integers of a dtype.
KValueRef with_positions(const KValueRef& value);

/// What a bool says of positions alone; nothing where it asks for other values too.
std::optional<Expr> condition_of(const KValueRef& value);

/// Blocks of `block` steps of axis `row`; `tile`: axes of the tile; `around`: the path to the
/// reduction, whose loops but those of the tile say where the tile is. Nothing if none is proven
/// hidden.
std::optional<UnmaskedBlocks> unmasked_blocks(const Kernel& kernel, const Hidden& hidden, int row,
                                              int64_t block, const std::vector<int>& tile,
                                              const std::vector<Statement*>& around);

}  // namespace tenon
