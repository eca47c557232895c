// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions whose sums are so long that processors lose what they have read: gradients of
// weights, [k, m]ᵀ · [k, n].
#pragma once

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

/// Blocks that the sum of reduction i had better be cut in; 1: none.
double blocks_of_long_sum(const SchedulerInput& input, int i);

}  // namespace tenon::scheduling
