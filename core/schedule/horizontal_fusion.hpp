// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Horizontal fusion: independent small kernels become sections of one launch, each in workgroups of
// its own.
#pragma once

#include "core/schedule/group.hpp"

namespace tenon::scheduling {

/// Fuses elementwise kernels whose results nothing in the graph reads, such as the updates of many
/// parameters: they may all run last. A large kernel that reads what the graph computes is left
/// alone, as its operands would live until then. Units merged into another become empty.
void fuse_horizontally(const SchedulerInput& input, Units& units);

}  // namespace tenon::scheduling
