// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Topological order of the kernels and commands of a cut.
#pragma once

#include <vector>

#include "core/schedule/cut.hpp"

namespace tenon::scheduling {

struct CutStep {
  int node = -1;    ///< the first root of a kernel, or a command
  int kernel = -1;  ///< -1: a command
};

/// Producers first, then by node number. Leaves out steps of a cycle, which kernels with several
/// outputs can form.
std::vector<CutStep> in_order(const SchedulerInput& input, const Cut& cut);

bool is_circular(const SchedulerInput& input, const Cut& cut);

}  // namespace tenon::scheduling
