// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/rewrite/pattern.hpp"

#include <memory>

namespace tenon::rewrite {

bool match(const Formula& pattern, const NodeRef& node, Bindings& bound) {
  switch (pattern.kind) {
    case Formula::Kind::kNumber:
      return node->op == Op::CONST && (!pattern.boolean || node->dtype == DType::kBool) &&
             node->as<ConstAttr>().value == pattern.value(node->dtype);
    case Formula::Kind::kVariable: {
      const NodeRef*& slot = bound[pattern.variable - 'a'];
      if (slot) return *slot == node;
      slot = &node;
      return true;
    }
    case Formula::Kind::kOp:
      break;
  }
  if (node->op != pattern.op) return false;
  const Bindings before = bound;
  bool fits = true;
  for (size_t i = 0; fits && i < pattern.operands.size(); ++i)
    fits = match(pattern.operands[i], node->sources[i], bound);
  if (fits) return true;
  bound = before;
  if (!(op_info(pattern.op).flags & kCommutative)) return false;
  if (match(pattern.operands[0], node->sources[1], bound) &&
      match(pattern.operands[1], node->sources[0], bound))
    return true;
  bound = before;
  return false;
}

namespace {

uint8_t type_bit(const Node& node) {
  const bool compares = op_info(node.op).kind == OpKind::COMPARE;
  const DType dtype = compares ? node.sources[0]->dtype : node.dtype;
  if (dtype == DType::kBool) return kBool;
  return is_float(dtype) ? kFloat : kInt;
}

}  // namespace

Rules compile(std::span<const TextRule> texts) {
  Rules rules;
  for (const TextRule& text : texts) {
    auto pattern = std::make_shared<const Formula>(Formula::parse(text.pattern));
    auto replacement = std::make_shared<const Formula>(Formula::parse(text.replacement));
    const uint8_t types = text.types;
    rules.push_back(
        {text.name, {pattern->op}, [=](const NodeRef& node, Builder& builder) -> NodeRef {
           Bindings bound{};
           if (!(types & type_bit(*node)) || !match(*pattern, node, bound)) return nullptr;
           return build(*replacement, bound, node->dtype, node->shape, builder);
         }});
  }
  return rules;
}

}  // namespace tenon::rewrite
