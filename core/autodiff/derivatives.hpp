// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of derivatives.def. Private to core/autodiff.
#pragma once

#include <array>
#include <string_view>

#include "core/ir/node.hpp"

namespace tenon::autodiff {

class Backward;

/// Adds the contributions of a node's adjoint (of its type) to the adjoints of its sources.
using DerivativeRule = void (*)(const NodeRef& node, const NodeRef& adjoint, Backward& backward);

struct Derivative {
  Op op;
  std::array<std::string_view, 3> formulas;  ///< of elementwise ops
  DerivativeRule rule = nullptr;             ///< of the others
  std::string_view reason;                   ///< why there is no derivative
};

const Derivative& derivative_of(Op op);

/// Whether the gradient flows from the node to this source.
bool propagates_adjoint(const Node& node, size_t source);

}  // namespace tenon::autodiff
