// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simplifies reductions of one element, reductions of reductions, and TAKE of all elements in
// order.
#include <algorithm>

#include "core/rewrite/rules/rules.hpp"

namespace tenon::rewrite {
namespace {

/// Reduction over axes of size 1. A float sum starts from +0, so the sum of -0 is +0.
NodeRef reduce_of_one(const NodeRef& node, Builder& builder) {
  const auto& attr = node->as<ReduceAttr>();
  const NodeRef& x = node->sources[0];
  if (!std::ranges::all_of(attr.axes, [&](int axis) { return x->shape[axis].is_const(1); }))
    return nullptr;
  if (attr.op != Op::ADD || !is_float(x->dtype)) return x;
  return builder.binary(Op::ADD, x, builder.constant(zero(x->dtype), x->shape));
}

/// For reductions that do not depend on order: integers, bool, MAX and MIN.
NodeRef reduce_of_reduce(const NodeRef& node, Builder& builder) {
  const auto& outer = node->as<ReduceAttr>();
  const NodeRef& inner_node = node->sources[0];
  if (inner_node->op != Op::REDUCE) return nullptr;
  const auto& inner = inner_node->as<ReduceAttr>();
  const bool any_order = !is_float(node->dtype) || outer.op == Op::MAX || outer.op == Op::MIN;
  if (!any_order || outer.op != inner.op || outer.accumulator != inner.accumulator) return nullptr;
  // An accumulator wider than the dtype would keep what the inner cast drops.
  if (outer.accumulator != node->dtype && !is_float(node->dtype)) return nullptr;
  std::vector<int> axes;
  std::ranges::set_union(outer.axes, inner.axes, std::back_inserter(axes));
  return builder.reduce(outer.op, inner_node->sources[0], std::move(axes), outer.accumulator);
}

NodeRef take_everything(const NodeRef& node, Builder&) {
  const NodeRef& x = node->sources[0];
  const NodeRef& index = node->sources[1];
  const int axis = node->as<TakeAttr>().axis;
  if (index->op != Op::INDEX || index->as<IndexAttr>().axis != axis) return nullptr;
  const bool holds = dtype_bits(index->dtype) >= 32;  // narrower positions wrap
  return holds && same_shape(x->shape, index->shape) && x->shape[axis].max() <= INT32_MAX ? x
                                                                                          : nullptr;
}

}  // namespace

Rules reduce_rules() {
  return {{"reduce of one", {Op::REDUCE}, reduce_of_one},
          {"reduce of reduce", {Op::REDUCE}, reduce_of_reduce},
          {"take of everything", {Op::TAKE}, take_everything}};
}

}  // namespace tenon::rewrite
