// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives that are not formulas, a file for each kind of op. Private to core/autodiff.
#pragma once

#include "core/ir/node.hpp"

namespace tenon::autodiff {

class Backward;

void through_cast(const NodeRef& node, const NodeRef& adjoint, Backward& backward);
void through_view(const NodeRef& node, const NodeRef& adjoint, Backward& backward);
void through_reduce(const NodeRef& node, const NodeRef& adjoint, Backward& backward);
void through_take(const NodeRef& node, const NodeRef& adjoint, Backward& backward);
void through_store(const NodeRef& node, const NodeRef& adjoint, Backward& backward);
void through_copy(const NodeRef& node, const NodeRef& adjoint, Backward& backward);
// Called once for all results of an IF, LOOP or CALL.
void through_if(const NodeRef& node, const NodeRef& adjoint, Backward& backward);
void through_loop(const NodeRef& node, const NodeRef& adjoint, Backward& backward);
void through_call(const NodeRef& node, const NodeRef& adjoint, Backward& backward);

}  // namespace tenon::autodiff
