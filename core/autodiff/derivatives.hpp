// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of derivatives.def. Private to core/autodiff.
#pragma once

#include <array>
#include <string_view>

#include "core/ir/node.hpp"

namespace tenon::autodiff {

class Backward;

/// Gives the adjoints of a node's sources what its own adjoint (of its type) tells.
using DerivativeRule = void (*)(const NodeRef& node, const NodeRef& adjoint, Backward& backward);

struct Derivative {
  Op op;
  std::array<std::string_view, 3> formulas;  ///< of elementwise ops
  DerivativeRule rule = nullptr;             ///< of the others
  std::string_view reason;                   ///< where a path ends
};

const Derivative& derivative_of(Op op);

/// Whether an adjoint of the node's value becomes one of this source.
bool passes(const Node& node, size_t source);

}  // namespace tenon::autodiff
