// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles that loops fill for loops after them, in shared memory: the threads of a workgroup fill
// them together, and barriers part what fills from what takes.
#pragma once

#include <span>

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

inline bool is_shared_tile(const KernelBuffer& b) {
  return b.kept && b.space == BufferSpace::kShared && b.written;
}
/// Whether other threads of a workgroup may read what one stores there.
inline bool is_read_by_others(const KernelBuffer& b) {
  return b.space == BufferSpace::kGlobal ? b.read : is_shared_tile(b);
}
bool has_shared_tiles(const Kernel& kernel);

/// One place for each point: a sum of symbols, of which each steps beyond what the smaller ones
/// reach.
bool is_one_to_one(const Expr& index);

struct TileAccess {
  int tile = -1;
  Expr index;
  bool writes = false;
};

/// Of statements with all that is inside them. `around`: the reduction whose steps they are, if
/// any.
std::vector<TileAccess> shared_tile_accesses(const Kernel& kernel,
                                             std::span<const Statement> statements,
                                             const Statement* around = nullptr);

/// Whether no element of the tile is touched by both in different iterations of the axis.
bool stay_apart(const TileAccess& a, const TileAccess& b, const KernelAxis& axis);

}  // namespace tenon
