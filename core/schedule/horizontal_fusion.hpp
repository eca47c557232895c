// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lays small kernels that have nothing to do with one another side by side: one launch of several
// sections, each in workgroups of its own.
#pragma once

#include "core/schedule/group.hpp"

namespace tenon::scheduling {

/// What many parameters' updates are: elementwise kernels whose results nothing in the graph reads,
/// so that they may all come last. A kernel that reads what the graph computes is left alone if it
/// is large, as those operands would be kept for it. Units that are now part of another are empty.
void fuse_horizontally(const SchedulerInput& input, Units& units);

}  // namespace tenon::scheduling
