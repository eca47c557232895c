// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prologue fusion: a factor of a contraction that is computed from much less memory than it would
// take, such as quantised weights, is computed in the contraction's kernel.
#pragma once

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

/// Sets `is_prologue` of such factors and the nodes that they are computed from. Only for devices
/// that stage tiles of the factors, so that each element is computed once for many products.
void mark_prologues(SchedulerInput& input);

}  // namespace tenon::scheduling
