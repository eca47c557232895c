// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Materialised tiles in shared memory: the threads of a workgroup fill them together, with barriers
// between the stores and the loads.
#pragma once

#include <span>

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

inline bool is_shared_tile(const KernelBuffer& b) {
  return b.materialised && b.space == BufferSpace::kShared && b.written;
}
/// True if other threads of the workgroup may read what a thread stores there.
inline bool is_read_by_others(const KernelBuffer& b) {
  return b.space == BufferSpace::kGlobal ? b.read : is_shared_tile(b);
}
bool has_shared_tiles(const Kernel& kernel);

/// True if different points have different elements: the index is a sum of symbols whose strides
/// each exceed the reach of the smaller ones.
bool is_one_to_one(const Expr& index);

struct TileAccess {
  int tile = -1;
  Expr index;
  bool writes = false;
};

/// All accesses in the statements and their bodies. `around`: the reduction that encloses them, for
/// the loads of its steps.
std::vector<TileAccess> shared_tile_accesses(const Kernel& kernel,
                                             std::span<const Statement> statements,
                                             const Statement* around = nullptr);

/// True if accesses in different iterations of the axis touch different elements.
bool are_disjoint(const TileAccess& a, const TileAccess& b, const KernelAxis& axis);

}  // namespace tenon
