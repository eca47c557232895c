// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of share of which each thread has elements that no other touches: rows of a product whose
// fragments say where they are, and what loops that are bound to the same threads make of them.
// These need neither shared memory nor barriers.
#pragma once

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// The kernel with such tiles in the threads' registers, if it has any: their digits are set, and
/// indices of loads and stores but those of atoms are places among a thread's own elements. A tile
/// stays shared where a thread would have many elements of it or would compute which one it takes.
std::optional<Kernel> with_register_tiles(const Kernel& kernel, const Capabilities& capabilities);

inline bool is_register_tile(const KernelBuffer& b) { return !b.digits.empty(); }

/// Where a thread has the element that is so far from its first one in the tile.
int64_t register_place(const KernelBuffer& tile, int64_t offset);
/// The same of an index as it was, with the atom at its first element.
Expr register_place(const Kernel& kernel, const KernelBuffer& tile, const Expr& index);

/// For each lane of a fragment how far its element is from the thread's first, rows and columns
/// being so far apart.
std::vector<int64_t> lane_offsets(const AtomLayout& layout, int lanes, int64_t row_step,
                                  int64_t column_step);

}  // namespace tenon
