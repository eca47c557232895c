// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grows one edge on purpose.
#include "conformance/cases/graphs/domains.hpp"
#include "conformance/cases/graphs/steps.hpp"
#include "core/ir/op.hpp"

namespace tenon::conformance::graphs {
namespace {

/// Bounds of a result that nobody computed: later steps scale it down.
Entry unknown(NodeRef node) {
  const DType dtype = node->dtype;
  if (dtype == DType::kBool) return {std::move(node), 0, 1};
  if (!is_float(dtype)) return full_range(std::move(node));
  const double comfort = Grower::comfort(dtype);
  return {std::move(node), -comfort, comfort};
}

/// An operand of the dtype: mostly a fresh input, near one.
Entry operand(Grower& g, DType dtype) {
  std::vector<Entry> fitting;
  for (const Entry& entry : g.pool())
    if (entry.node->dtype == dtype && entry.node->op != Op::CONST) fitting.push_back(entry);
  if (!fitting.empty() && g.choices().chance(40)) return g.choices().pick(fitting);
  const Shape shape = g.draw_shape();
  if (is_float(dtype) && g.choices().chance(60))
    return g.param(dtype, shape, {.low = 0.25, .high = 4});
  return g.param(dtype, shape);
}

Entry edge_partner(Grower& g, const Entry& x) {
  return g.to_shape(operand(g, x.node->dtype), x.node->shape);
}

Entry edge_positions(Grower& g, const Shape& shape, const Dim& size) {
  return g.param(g.choices().chance(50) ? DType::kI64 : DType::kI32, shape,
                 index_domain(size.min()));
}

NodeRef take_with(Grower& g, const Entry& x, bool any_role) {
  const int axis = axis_of(g, x.node->shape);
  const auto place = static_cast<size_t>(axis);
  Shape other = x.node->shape;
  other[place] = Dim(g.choices().between(1, 40));
  if (any_role && is_int(x.node->dtype) && g.choices().chance(40))  // as the positions
    return g.build().take(g.param(g.main_float(), other).node, x.node, axis);
  return g.build().take(x.node, edge_positions(g, other, x.node->shape[place]).node, axis);
}

NodeRef store_with(Grower& g, const Entry& x, bool any_role) {
  const int axis = axis_of(g, x.node->shape);
  const auto place = static_cast<size_t>(axis);
  const DType dtype = x.node->dtype;
  const auto mode = static_cast<StoreMode>(g.choices().below(2));
  Shape other = x.node->shape;
  other[place] = Dim(g.choices().between(1, 8));
  const uint64_t role = g.choices().below(any_role && is_int(dtype) ? 3 : 2);
  if (role == 1)  // as the values
    return g.build().store(g.param(dtype, other).node,
                           edge_positions(g, x.node->shape, other[place]).node, x.node, axis, mode);
  if (role == 2)  // as the positions
    return g.build().store(g.param(g.main_float(), other).node, x.node,
                           g.param(g.main_float(), x.node->shape).node, axis, mode);
  return g.build().store(x.node, edge_positions(g, other, x.node->shape[place]).node,
                         g.param(dtype, other).node, axis, mode);
}

NodeRef where_with(Grower& g, const Entry& x, bool any_role) {
  if (any_role && x.node->dtype == DType::kBool && g.choices().chance(60)) {
    const Entry a = g.to_shape(operand(g, g.main_float()), x.node->shape);
    return g.build().where(x.node, a.node, edge_partner(g, a).node);
  }
  const NodeRef y = edge_partner(g, x).node;
  const NodeRef condition = g.any_bool(x.node->shape).node;
  return g.choices().chance(50) ? g.build().where(condition, y, x.node)
                                : g.build().where(condition, x.node, y);
}

DType other_dtype(Grower& g, DType dtype) {
  const DType drawn = all_dtypes()[g.choices().below(all_dtypes().size())];
  const DType to = g.choices().chance(50) ? drawn : g.main_float();
  if (to != dtype) return to;
  return dtype == DType::kF32 ? DType::kI32 : DType::kF32;
}

/// The op on x and whatever else it takes; `result` is what a CAST gives. In any role x may also be
/// a condition or positions, and then the result has another dtype.
NodeRef apply(Grower& g, const EdgeOp& op, const Entry& x, DType result, bool any_role) {
  switch (op_info(op.op).kind) {
    case OpKind::UNARY:
      return op.op == Op::CAST ? g.build().cast(x.node, result) : g.build().unary(op.op, x.node);
    case OpKind::BINARY:
    case OpKind::COMPARE: {
      const NodeRef y = edge_partner(g, x).node;
      return g.choices().chance(50) ? g.build().binary(op.op, y, x.node)
                                    : g.build().binary(op.op, x.node, y);
    }
    case OpKind::TERNARY: {
      if (op.op == Op::WHERE) return where_with(g, x, any_role);
      const NodeRef y = edge_partner(g, x).node, z = edge_partner(g, x).node;
      return g.choices().chance(50) ? g.build().fma(y, z, x.node) : g.build().fma(x.node, y, z);
    }
    case OpKind::REDUCE:
      return g.build().reduce(op.combines, x.node, draw_axes(g, x.node->shape));
    case OpKind::MEMORY:
      return op.op == Op::TAKE ? take_with(g, x, any_role) : store_with(g, x, any_role);
    case OpKind::LEAF:
    case OpKind::MOVE:
    case OpKind::CONTROL:
    case OpKind::VECTOR:
    case OpKind::SYNC:
    case OpKind::MATRIX:
    case OpKind::RESERVED:
      break;
  }
  return x.node;
}

bool needs_axis(const EdgeOp& op) {
  return op.op == Op::REDUCE || op.op == Op::TAKE || op.op == Op::STORE;
}

/// Some dtype that the op takes, for an op whose result has another one.
DType operand_dtype(Grower& g, const EdgeOp& op, DType result) {
  if (op.op == Op::CAST) return other_dtype(g, result);
  if (op_info(op.op).kind == OpKind::COMPARE)
    return g.choices().chance(40) ? g.main_int() : g.main_float();
  return result;
}

Entry produce(Grower& g, const EdgeOp& op, DType dtype) {
  Shape shape = g.draw_shape();
  if (shape.empty()) shape.emplace_back(1);
  if (op.op == Op::PARAM) return g.param(dtype, shape);
  if (op.op == Op::CONST)
    return g.constant(dtype, static_cast<double>(g.choices().between(1, 6)) * 0.5, shape);
  if (op.op == Op::INDEX) return unknown(g.build().index(axis_of(g, shape), shape, dtype));
  Entry x = operand(g, operand_dtype(g, op, dtype));
  if (needs_axis(op)) x = with_axis(g, x);
  return unknown(apply(g, op, x, dtype, false));
}

}  // namespace

Entry grow_edge(Grower& g, const Edge& edge) {
  const EdgeOp& producer = edge_ops()[static_cast<size_t>(edge.producer)];
  const EdgeOp& consumer = edge_ops()[static_cast<size_t>(edge.consumer)];
  Entry below = produce(g, producer, edge.dtype);
  if (!g.fits(below.node->shape)) return below;
  const bool plain = edge.layout == EdgeLayout::kPlain;
  const Entry x =
      plain && !needs_axis(consumer) ? below : view_as(g, with_axis(g, below), edge.layout);
  if (!g.fits(x.node->shape)) return below;
  return unknown(apply(g, consumer, x, other_dtype(g, edge.dtype), true));
}

}  // namespace tenon::conformance::graphs
