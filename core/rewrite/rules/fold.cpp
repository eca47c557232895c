// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds ops on constants, constant dimensions, and positions along axes of size 1.
#include "core/ir/fold.hpp"
#include "core/rewrite/rules/rules.hpp"

namespace tenon::rewrite {
namespace {

NodeRef fold_elementwise(const NodeRef& node, Builder& builder) {
  std::vector<Scalar> operands;
  for (const NodeRef& source : node->sources) {
    if (source->op != Op::CONST) return nullptr;
    operands.push_back(source->as<ConstAttr>().value);
  }
  return builder.constant(evaluate_elementwise(*node, operands), node->shape);
}

NodeRef fold_dim(const NodeRef& node, Builder& builder) {
  const auto& attr = node->as<ParamAttr>();
  if (!attr.is_dim || !attr.dim.is_const()) return nullptr;
  return builder.constant(Scalar::of_int(node->dtype, attr.dim.value()));
}

NodeRef fold_index(const NodeRef& node, Builder& builder) {
  if (!node->shape[node->as<IndexAttr>().axis].is_const(1)) return nullptr;
  return builder.constant(zero(node->dtype), node->shape);
}

}  // namespace

Rules fold_rules() {
  std::vector<Op> elementwise;
  for (const OpInfo& info : all_ops())
    if (is_elementwise(info.op) && info.level != OpLevel::PROGRAM) elementwise.push_back(info.op);
  return {{"fold constants", elementwise, fold_elementwise},
          {"fold dimensions", {Op::PARAM}, fold_dim},
          {"fold positions", {Op::INDEX}, fold_index}};
}

}  // namespace tenon::rewrite
