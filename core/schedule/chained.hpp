// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums that follow a maximum over their axis: softmax of a product of matrices, times a third. What
// lies between is as large as the product, and a kernel that goes over the axis once keeps none of
// it.
#pragma once

#include <vector>

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

struct Chain {
  int root = -1;            ///< the last sum, or a cast of it: a kernel's only output
  std::vector<int> inside;  ///< nodes that nothing else needs
};

/// By how the reductions depend on one another; whether one kernel can do that is for those who
/// make kernels to say.
std::vector<Chain> find_chains(const SchedulerInput& input);

/// What is made of positions alone and read only inside, as masks are: never in memory.
std::vector<int> positions_of(const SchedulerInput& input, const std::vector<int>& inside);

}  // namespace tenon::scheduling
