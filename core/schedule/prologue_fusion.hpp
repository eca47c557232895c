// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors of products that are computed from much less memory than they would take, as weights in
// blocks of few bits are: they are computed where the product takes them.
#pragma once

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

/// Sets `condensed` of the nodes between such factors and what they read, where the device keeps
/// tiles of factors near, so that each element is computed once for many products.
void mark_prologues(SchedulerInput& input);

}  // namespace tenon::scheduling
