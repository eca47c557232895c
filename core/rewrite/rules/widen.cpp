// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For dtypes that a device stores but does not compute: each op is computed in a wider dtype and
// cast back, so that it rounds or wraps to its own. Double rounding is innocuous, as f32 has more
// than twice the digits of f16 and bf16 (Figueroa, "When is double rounding innocuous?").
#include <algorithm>

#include "core/rewrite/rules/rules.hpp"

namespace tenon::rewrite {
namespace {

/// Whether the device has arithmetic on the dtype. Dtypes packed in words have none.
bool computes(const Capabilities& capabilities, DType dtype) {
  return capabilities.of(dtype).arithmetic &&
         dtype_size(dtype) >= static_cast<size_t>(capabilities.storage_bytes);
}

/// The dtype to compute in: a wider one, or the dtype itself.
DType wider(const Capabilities& capabilities, DType dtype) {
  if (dtype == DType::kBool || computes(capabilities, dtype) || dtype_size(dtype) >= 4)
    return dtype;
  const DType wide = is_float(dtype) ? DType::kF32 : is_signed(dtype) ? DType::kI32 : DType::kU32;
  return computes(capabilities, wide) ? wide : dtype;
}

NodeRef widen_elementwise(const NodeRef& node, Builder& builder, const Capabilities& capabilities) {
  const bool is_widened = wider(capabilities, node->dtype) != node->dtype;
  if (node->op == Op::NEG && is_float(node->dtype) && is_widened)
    if (NodeRef made = flip_sign(node->sources[0], builder, capabilities)) return made;
  std::vector<NodeRef> sources;
  bool widened = false;
  for (const NodeRef& source : node->sources) {
    const DType wide = wider(capabilities, source->dtype);
    widened |= wide != source->dtype;
    sources.push_back(wide == source->dtype ? source : builder.cast(source, wide));
  }
  if (!widened) return nullptr;
  NodeRef made = builder.make(node->op, DType::kVoid, {}, std::move(sources), std::monostate());
  return made->dtype == node->dtype ? made : builder.cast(made, node->dtype);
}

/// Also makes casts to an accumulator of another dtype explicit, so that lowering sees none.
NodeRef widen_reduce(const NodeRef& node, Builder& builder, const Capabilities& capabilities) {
  const auto& attr = node->as<ReduceAttr>();
  const DType wide = wider(capabilities, attr.accumulator);
  if (wide == node->dtype) return nullptr;
  const NodeRef& x = node->sources[0];
  NodeRef made = builder.reduce(attr.op, builder.cast(x, wide), attr.axes, wide, attr.precision);
  const bool extreme = attr.op == Op::MAX || attr.op == Op::MIN;
  const bool may_be_empty =
      std::ranges::any_of(attr.axes, [&](int axis) { return x->shape[axis].min() == 0; });
  if (extreme && may_be_empty &&
      is_int(wide)) {  // the identity of the wider dtype would wrap when cast back
    const Scalar identity = attr.op == Op::MAX ? lowest(node->dtype) : highest(node->dtype);
    made = builder.binary(attr.op, made, builder.constant(cast(identity, wide), made->shape));
  }
  return builder.cast(made, node->dtype);
}

}  // namespace

Rules widen_rules(const Capabilities& capabilities) {
  std::vector<Op> elementwise;
  for (const OpInfo& info : all_ops())
    if (is_elementwise(info.op) && info.op != Op::CAST && info.level != OpLevel::PROGRAM)
      elementwise.push_back(info.op);
  return {{"widen", elementwise,
           [&capabilities](const NodeRef& node, Builder& builder) {
             return widen_elementwise(node, builder, capabilities);
           }},
          {"widen reduce", {Op::REDUCE}, [&capabilities](const NodeRef& node, Builder& builder) {
             return widen_reduce(node, builder, capabilities);
           }}};
}

}  // namespace tenon::rewrite
