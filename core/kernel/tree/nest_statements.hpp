// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arranges the flat result of index evaluation into a tree of loops.
#pragma once

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// Loops to open, in no particular order, and the stores that need them.
struct LoopNest {
  std::vector<int> axes;
  std::vector<Statement> stores;
  bool ordered = false;  ///< a scatter's: every store runs in every iteration
};

/// Reductions at the same place over the same extents that do not need each other become one with
/// several states. kernel.body holds the reductions alone.
void share_reductions(Kernel& kernel, std::vector<LoopNest>& nests);

/// Builds kernel.body: in each nest the axes that most reductions need come first; each reduction
/// goes into the deepest loop that it depends on, ahead of what uses it.
void place_statements(Kernel& kernel, std::vector<LoopNest> nests);

}  // namespace tenon
