// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The value of an elementwise node whose operands are known.
#pragma once

#include <span>

#include "core/ir/node.hpp"

namespace tenon {

/// One element, by the definition in scalar_op.hpp; bit casts too.
Scalar evaluate_elementwise(const Node& node, std::span<const Scalar> operands);

}  // namespace tenon
