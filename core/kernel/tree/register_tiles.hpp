// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves tiles of cooperative_load from shared memory to registers if each thread accesses only
// elements of its own: rows of a product with a known fragment layout, and loops bound to the same
// threads. Such tiles need neither shared memory nor barriers.
#pragma once

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// The kernel with such tiles in registers; nothing if it has none. Sets their digits, and rewrites
/// indices, except those of atoms, to numbers of a thread's own elements. A tile stays shared if a
/// thread would hold many elements or compute an element's number at run time.
std::optional<Kernel> with_register_tiles(const Kernel& kernel, const Capabilities& capabilities);

inline bool is_register_tile(const KernelBuffer& b) { return !b.digits.empty(); }

/// Number, among a thread's own elements, of the one at `offset` from its first in the tile.
int64_t register_place(const KernelBuffer& tile, int64_t offset);
/// The same for an index into the shared tile, with the atom's axes at 0.
Expr register_place(const Kernel& kernel, const KernelBuffer& tile, const Expr& index);

/// For each lane of a fragment the offset of its element from the thread's first, in elements of
/// the tile.
std::vector<int64_t> lane_offsets(const AtomLayout& layout, int lanes, int64_t row_step,
                                  int64_t column_step);

}  // namespace tenon
