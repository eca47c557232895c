// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lambda lifting of what is differentiated by. Private to core/autodiff.
#pragma once

#include <vector>

#include "core/ir/build.hpp"

namespace tenon::autodiff {

struct Lifted {
  std::vector<NodeRef> outputs, leaves;
};

/// Nodes of equal value in which each of `leaves` that a body of an IF, LOOP or CALL has as a node
/// of its own is a captured value: a constant expression, which a body need not capture, or a view
/// of a captured value. Throws kInvalid for one within a CALL with a gradient graph, which has no
/// adjoint for it. Linear in the nodes of graphs and bodies.
Lifted lift_leaves(const std::vector<NodeRef>& outputs, const std::vector<NodeRef>& leaves,
                   Builder& builder);

}  // namespace tenon::autodiff
