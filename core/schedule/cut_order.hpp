// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels and commands of a cut in an order in which each finds what it reads.
#pragma once

#include <vector>

#include "core/schedule/cut.hpp"

namespace tenon::scheduling {

struct CutStep {
  int node = -1;    ///< the first root of a kernel, or a command
  int kernel = -1;  ///< -1: a command
};

/// Operands first, else in the order of nodes. Those that wait for one another, as kernels with
/// several outputs may, are left out.
std::vector<CutStep> in_order(const SchedulerInput& input, const Cut& cut);

bool is_circular(const SchedulerInput& input, const Cut& cut);

}  // namespace tenon::scheduling
