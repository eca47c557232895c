// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums that follow a maximum over their axis: softmax of a product of matrices, times a third. What
// lies between is as large as the product, and a kernel that goes over the axis once keeps none of
// it.
#pragma once

#include <vector>

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

struct OnlineSoftmax {
  int root = -1;            ///< the last sum, or a cast of it: a kernel's output
  std::vector<int> inside;  ///< nodes that nothing else needs
  std::vector<int> also;    ///< of rows, what others need, too: outputs beside the root
  bool again = false;       ///< others compute again what is inside: see recomputed.hpp
  int sum = -1, maximum = -1, product = -1;
  std::vector<int> rows;  ///< sums of rows that follow the maximum
};

/// By how the reductions depend on one another; whether one kernel can do that is for those who
/// make kernels to say. Of nodes in `again` others may need something: they have their own.
std::vector<OnlineSoftmax> find_online_softmax(const SchedulerInput& input,
                                               const std::vector<int>& again = {});

/// What is made of positions alone and read only inside, as masks are: never in memory.
std::vector<int> positions_of(const SchedulerInput& input, const std::vector<int>& inside);

}  // namespace tenon::scheduling
