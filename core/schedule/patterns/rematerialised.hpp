// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rematerialisation: a matrix product that is much larger than its factors, and is read pointwise
// by reductions with small results, such as the scores of attention in its gradient. Each of these
// reductions recomputes the product, so it is never materialised.
#pragma once

#include <vector>

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

struct Rematerialised {
  std::vector<int> roots;                     ///< the reductions: each is a kernel's output
  std::vector<int> fused_nodes;               ///< nodes that each of these kernels recomputes
  std::vector<std::vector<int>> fused_roots;  ///< roots that share one kernel
};

/// Matches by how the reductions depend on one another. Whether kernels can do it is decided by
/// ScheduleOptions::fuses_reductions, for all roots of a group or none.
std::vector<Rematerialised> find_rematerialised(const SchedulerInput& input);

}  // namespace tenon::scheduling
