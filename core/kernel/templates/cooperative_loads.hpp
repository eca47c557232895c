// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cooperative loads: the threads of a workgroup fill a tile in shared memory together.
#pragma once

#include "core/kernel/templates/schedule_builder.hpp"

namespace tenon {

/// Threads of a workgroup along x, y and z.
struct Threads {
  int64_t x = 1, y = 1, z = 1;
  int64_t across = 0;  ///< if not 0: of the x threads so many on block.x, the others on block.y
  int64_t all() const { return x * y * z; }
};

/// Binds loops over a tile to all threads: vector lanes innermost, then threads along a row.
void spread_over_block(ScheduleBuilder& builder, std::vector<int> axes, const Threads& threads,
                       int64_t lanes, bool on_y_and_z);

/// The copy loops of the tile that was staged last.
std::vector<int> copy_loops(ScheduleBuilder& builder);

/// Bytes of shared memory: of all tiles, or of the staged ones only.
int64_t shared_bytes(const ScheduleBuilder& builder, bool staged_only);
bool fits_shared(const ScheduleBuilder& builder);

}  // namespace tenon
