// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Online softmax: softmax(a @ b) @ c, as sums that depend on a maximum over the same axis. One
// kernel that loops over the axis once materialises none of the intermediates, which are as large
// as a @ b.
#pragma once

#include <vector>

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

struct OnlineSoftmax {
  int root = -1;                   ///< the last sum, or a cast of it: the kernel's output
  std::vector<int> fused_nodes;    ///< nodes that only this kernel computes
  std::vector<int> extra_outputs;  ///< row values that others read: outputs besides the root
  bool rematerialised = false;     ///< others recompute fused nodes (rematerialised.hpp)
  int sum = -1, maximum = -1, product = -1;
  std::vector<int> row_sums;  ///< sums of rows that depend on the maximum
};

/// Matches by how the reductions depend on one another. Whether one kernel can do it is decided by
/// ScheduleOptions::fuses_reductions. Nodes in `rematerialised` may have other readers, which
/// recompute them.
std::vector<OnlineSoftmax> find_online_softmax(const SchedulerInput& input,
                                               const std::vector<int>& rematerialised = {});

/// Nodes computed from positions alone, such as masks, that only `fused_nodes` read: never
/// materialised.
std::vector<int> positions_of(const SchedulerInput& input, const std::vector<int>& fused_nodes);

}  // namespace tenon::scheduling
