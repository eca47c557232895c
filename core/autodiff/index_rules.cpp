// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives of TAKE and STORE. TAKE (gather) and adding STORE (scatter-add) are transposes.
#include "core/autodiff/backward.hpp"
#include "core/autodiff/rules.hpp"

namespace tenon::autodiff {
namespace {

/// Mask of the values of a STORE that were not overwritten: the last value of each index. Computed
/// by storing positions. Null if there is only one index along the axis.
NodeRef surviving_values(const NodeRef& store, Builder& builder) {
  const NodeRef& x = store->sources[0];
  const NodeRef& index = store->sources[1];
  const int axis = store->as<StoreAttr>().axis;
  if (index->shape[static_cast<size_t>(axis)].is_const(1)) return nullptr;
  const NodeRef positions = builder.index(axis, index->shape);
  const NodeRef none = builder.constant(Scalar::of_int(DType::kI64, -1), x->shape);
  const NodeRef last = builder.store(none, index, positions, axis, StoreMode::kLast);
  return builder.binary(Op::CMPEQ, builder.take(last, index, axis), positions);
}

}  // namespace

void through_take(const NodeRef& node, const NodeRef& adjoint, Backward& backward) {
  const NodeRef& x = node->sources[0];
  const NodeRef g = backward.widened(adjoint);
  backward.accumulate(x, backward.builder().store(backward.zeros(x, g->dtype), node->sources[1], g,
                                                  node->as<TakeAttr>().axis, StoreMode::kAdd));
}

void through_store(const NodeRef& node, const NodeRef& adjoint, Backward& backward) {
  const NodeRef &x = node->sources[0], &index = node->sources[1], &values = node->sources[2];
  const auto& attr = node->as<StoreAttr>();
  const bool adds = attr.mode == StoreMode::kAdd;
  Builder& builder = backward.builder();
  if (backward.needs_adjoint(x)) {
    // Overwritten elements get no gradient.
    backward.accumulate(
        x, adds ? adjoint
                : builder.store(adjoint, index, backward.zeros(values, values->dtype), attr.axis,
                                StoreMode::kLast));
  }
  if (backward.needs_adjoint(values)) {
    const NodeRef taken = builder.take(adjoint, index, attr.axis);
    const NodeRef left = adds ? nullptr : surviving_values(node, builder);
    backward.accumulate(
        values, left ? builder.where(left, taken, backward.zeros(values, values->dtype)) : taken);
  }
}

}  // namespace tenon::autodiff
