// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of narrow floats that a sum adds in a wider one.
#include "core/rewrite/rules/rules.hpp"

namespace tenon::rewrite {
namespace {

/// The multiply-add of a sum may be contracted: the product of two f16 or bf16 is exact in f32, and
/// is what a matrix unit adds.
NodeRef keep_products(const NodeRef& node, Builder& builder) {
  const auto& attr = node->as<ReduceAttr>();
  const NodeRef& product = node->sources[0];
  if (attr.op != Op::ADD || product->op != Op::MUL ||
      !adds_exact_products(product->dtype, attr.accumulator))
    return nullptr;
  const DType wide = attr.accumulator;
  NodeRef whole = builder.binary(Op::MUL, builder.cast(product->sources[0], wide),
                                 builder.cast(product->sources[1], wide));
  NodeRef sum = builder.reduce(Op::ADD, std::move(whole), attr.axes, wide, attr.precision);
  return builder.cast(std::move(sum), node->dtype);
}

}  // namespace

Rules product_rules() { return {{"exact products", {Op::REDUCE}, keep_products}}; }

}  // namespace tenon::rewrite
