// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates an elementwise node on constant operands.
#pragma once

#include <span>

#include "core/ir/node.hpp"

namespace tenon {

/// The value of one element, as scalar_op.hpp defines it. Handles bit casts too.
Scalar evaluate_elementwise(const Node& node, std::span<const Scalar> operands);

}  // namespace tenon
