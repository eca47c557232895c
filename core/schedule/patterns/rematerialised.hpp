// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices that are larger than what they are made of, and are only read, element by
// element, by reductions of which each is smaller again: the scores of attention where a gradient
// wants them. Each of these reductions computes them anew, and none is kept.
#pragma once

#include <vector>

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

struct Rematerialised {
  std::vector<int> roots;                ///< the reductions: each a kernel's output
  std::vector<int> inside;               ///< nodes that nothing else needs
  std::vector<std::vector<int>> joined;  ///< of the roots, those of one kernel
};

/// By how the reductions depend on one another; whether kernels can do that is for those who make
/// kernels to say: all of them, or none.
std::vector<Rematerialised> find_rematerialised(const SchedulerInput& input);

}  // namespace tenon::scheduling
