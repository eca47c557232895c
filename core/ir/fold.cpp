// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/fold.hpp"

#include "core/ir/scalar_op.hpp"

namespace tenon {

Scalar evaluate_elementwise(const Node& node, std::span<const Scalar> operands) {
  if (node.op == Op::CAST && node.as<CastAttr>().bits) {
    Scalar value{node.dtype, operands[0].bits};
    if (value.dtype == DType::kBool) value.bits = value.bits != 0;
    return value;
  }
  return evaluate_scalar(node.op, node.dtype, operands);
}

}  // namespace tenon
