// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// STORE, TAKE and sums at a single index of an axis, as with a class label. A STORE at one index
// becomes a one-hot select, and the sum of a one-hot select becomes a TAKE, so neither goes through
// memory.
#include <algorithm>

#include "core/ir/scalar_op.hpp"
#include "core/rewrite/rules/rules.hpp"

namespace tenon::rewrite {
namespace {

constexpr int kDeepest = 8;  ///< depth of the search

bool is_view(const Node& node, ViewKind kind) {
  return node.op == Op::VIEW && node.as<ViewAttr>().kind == kind;
}

/// Whether an axis has at most 2^31 elements, so that i32 holds positions.
bool is_short(const Dim& size) { return size.is_const() && size.value() <= INT32_MAX; }

Shape with_one(Shape shape, int axis) {
  shape[axis] = 1;
  return shape;
}

/// If the values are equal along the axis, the node with size 1 there; else null.
NodeRef at_one(const NodeRef& node, int axis, Builder& builder, int depth = 0) {
  if (node->shape[axis].is_const(1)) return node;
  const Shape shape = with_one(node->shape, axis);
  if (node->op == Op::CONST) return builder.constant(node->as<ConstAttr>().value, shape);
  if (node->op == Op::INDEX && node->as<IndexAttr>().axis != axis)
    return builder.index(node->as<IndexAttr>().axis, shape, node->dtype);
  if (is_view(*node, ViewKind::kExpand) && node->sources[0]->shape[axis].is_const(1))
    return builder.expand(node->sources[0], shape);
  if (depth == kDeepest || !(is_elementwise(node->op) || node->op == Op::CAST)) return nullptr;
  std::vector<NodeRef> sources;
  for (const NodeRef& source : node->sources) {
    sources.push_back(at_one(source, axis, builder, depth + 1));
    if (!sources.back()) return nullptr;
  }
  return builder.make(node->op, node->dtype, shape, std::move(sources), node->attr);
}

/// The source axis of an axis of a reshape that only adds or removes axes of size 1; else -1.
int axis_before(const Node& reshape, int axis) {
  const Shape &from = reshape.sources[0]->shape, &to = reshape.shape;
  size_t s = 0;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d].is_const(1)) continue;
    while (s < from.size() && from[s].is_const(1)) ++s;
    if (s == from.size() || !(from[s] == to[d])) return -1;
    if (static_cast<int>(d) == axis) return static_cast<int>(s);
    ++s;
  }
  return -1;
}

/// Whether each element is its position along the axis, in an integer that holds it.
bool is_position(const Node* node, int axis) {
  for (int depth = 0; depth < kDeepest; ++depth) {
    if (!is_int(node->dtype) || dtype_bits(node->dtype) < 32 || !is_short(node->shape[axis]))
      return false;
    if (node->op == Op::INDEX) return node->as<IndexAttr>().axis == axis;
    const bool moves = node->op == Op::CAST || is_view(*node, ViewKind::kExpand) ||
                       is_view(*node, ViewKind::kReshape);
    if (!moves) return false;
    const Node* source = node->sources[0].get();
    if (is_view(*node, ViewKind::kExpand) && !(source->shape[axis] == node->shape[axis]))
      return false;
    if (is_view(*node, ViewKind::kReshape)) axis = axis_before(*node, axis);
    if (axis < 0) return false;
    node = source;
  }
  return false;
}

NodeRef number(const NodeRef& like, int64_t value, Builder& builder) {
  return builder.constant(Scalar::of_int(like->dtype, value), like->shape);
}

NodeRef is_inside(const NodeRef& index, const Dim& size, Builder& builder) {
  NodeRef below = builder.binary(Op::CMPLT, index, number(index, size.value(), builder));
  if (!is_signed(index->dtype)) return below;
  return builder.binary(Op::AND, builder.binary(Op::CMPLT, number(index, -1, builder), index),
                        below);
}

bool holds(DType dtype, int64_t value) {
  return dtype_bits(dtype) >= 32 || value < int64_t{1} << (dtype_bits(dtype) - 1);
}

/// STORE at one index into a constant: a select by position, without a buffer to fill first.
NodeRef store_of_one(const NodeRef& node, Builder& builder) {
  const auto& attr = node->as<StoreAttr>();
  const NodeRef &x = node->sources[0], &values = node->sources[2];
  const Dim& size = node->shape[attr.axis];
  NodeRef index = node->sources[1];
  if (x->op != Op::CONST || !index->shape[attr.axis].is_const(1) || !is_short(size) ||
      !holds(index->dtype, size.value()))
    return nullptr;
  // Narrow the index to 32 bits; one out of range becomes `size`.
  if (dtype_bits(index->dtype) > 32)
    index =
        builder.where(is_inside(index, size, builder), index, number(index, size.value(), builder));
  index = builder.cast(index, DType::kI32);
  NodeRef value = values;
  if (attr.mode == StoreMode::kAdd)
    value =
        builder.binary(Op::ADD, builder.constant(x->as<ConstAttr>().value, values->shape), value);
  const NodeRef here = builder.binary(Op::CMPEQ, builder.index(attr.axis, node->shape, DType::kI32),
                                      builder.expand(std::move(index), node->shape));
  return builder.where(here, builder.expand(std::move(value), node->shape), x);
}

/// Computes the value at one index of an axis from the values of the operands there.
class Lookup {
 public:
  Lookup(NodeRef index, int axis, Builder& builder)
      : index_(std::move(index)), axis_(axis), builder_(builder) {}

  NodeRef at(const NodeRef& node, int depth = 0) {
    const Shape shape = with_one(node->shape, axis_);
    if (node->op == Op::INDEX && node->as<IndexAttr>().axis == axis_)
      return builder_.cast(index_, node->dtype);
    if (NodeRef same = at_one(node, axis_, builder_, kDeepest)) return same;
    if (depth == kDeepest || !is_computed(*node)) return builder_.take(node, index_, axis_);
    std::vector<NodeRef> sources;
    for (const NodeRef& source : node->sources) sources.push_back(at(source, depth + 1));
    return builder_.make(node->op, node->dtype, shape, std::move(sources), node->attr);
  }

  static bool is_computed(const Node& node) {
    return is_elementwise(node.op) || node.op == Op::CAST;
  }

 private:
  NodeRef index_;
  int axis_;
  Builder& builder_;
};

/// TAKE at one index of a computed or expanded value: computes only the element taken.
NodeRef take_of_one(const NodeRef& node, Builder& builder) {
  const NodeRef &x = node->sources[0], &index = node->sources[1];
  const int axis = node->as<TakeAttr>().axis;
  const Dim& size = x->shape[axis];
  if (!index->shape[axis].is_const(1) || size.is_const(1) || !is_short(size) ||
      !holds(index->dtype, size.value()))
    return nullptr;
  if (!Lookup::is_computed(*x) && !is_view(*x, ViewKind::kExpand)) return nullptr;
  const NodeRef there = Lookup(index, axis, builder).at(x);
  if (there->op == Op::TAKE) return nullptr;  // expanded along other axes
  return builder.where(is_inside(index, size, builder), there,
                       builder.constant(zero(node->dtype), node->shape));
}

bool is_zero(const NodeRef& node) {
  return node->op == Op::CONST && node->as<ConstAttr>().value == zero(node->dtype);
}

/// Sum of a one-hot select: one term is added to zeros.
NodeRef sum_of_one(const NodeRef& node, Builder& builder) {
  const auto& attr = node->as<ReduceAttr>();
  const NodeRef& terms = node->sources[0];
  if (attr.op != Op::ADD || attr.axes.size() != 1 || terms->op != Op::WHERE ||
      terms->sources[0]->op != Op::CMPEQ || !is_zero(terms->sources[2]) ||
      (attr.accumulator != node->dtype && !is_float(node->dtype)))
    return nullptr;
  const int axis = attr.axes[0];
  const NodeRef& value = terms->sources[1];
  for (const size_t i : {0, 1}) {
    if (!is_position(terms->sources[0]->sources[i].get(), axis)) continue;
    const NodeRef index = at_one(terms->sources[0]->sources[1 - i], axis, builder);
    if (!index) continue;
    NodeRef there = at_one(value, axis, builder);
    const Dim& size = value->shape[axis];
    if (there)
      there = builder.where(is_inside(index, size, builder), there,
                            builder.constant(zero(node->dtype), node->shape));
    else
      there = builder.take(value, index, axis);
    if (!is_float(node->dtype)) return there;
    return builder.binary(Op::ADD, there, builder.constant(zero(node->dtype), node->shape));
  }
  return nullptr;
}

}  // namespace

Rules one_place_rules() {
  return {{"store of one place", {Op::STORE}, store_of_one},
          {"take of one place", {Op::TAKE}, take_of_one},
          {"sum of one place", {Op::REDUCE}, sum_of_one}};
}

}  // namespace tenon::rewrite
