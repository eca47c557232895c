// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arranges the flat statements of index evaluation in a tree of loops.
#pragma once

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// The loops of a nest, in any order, and its stores.
struct LoopNest {
  std::vector<int> axes;
  std::vector<Statement> stores;
  bool ordered = false;  ///< of a scatter: every store runs in every iteration
};

/// Fuses independent reductions with equal loops into one with several states. kernel.body holds
/// the reductions alone.
void fuse_reductions(Kernel& kernel, std::vector<LoopNest>& nests);

/// Builds kernel.body. In each nest the axes that most reductions depend on come first. A reduction
/// goes into the deepest loop that it depends on, before its users.
void place_statements(Kernel& kernel, std::vector<LoopNest> nests);

}  // namespace tenon
