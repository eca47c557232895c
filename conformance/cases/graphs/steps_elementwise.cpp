// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise steps, each operand repaired into the domain of its op.
#include <algorithm>
#include <cmath>

#include "conformance/cases/graphs/steps.hpp"

namespace tenon::conformance::graphs {
namespace {

/// Elementwise ops of ops.def, the cheap ones first: failures shrink to those.
template <class Wanted>
std::vector<Op> ops_where(const Wanted& wanted) {
  std::vector<Op> out;
  for (const OpInfo& op : all_ops())
    if (is_elementwise(op.op) && op.level != OpLevel::PROGRAM && op.family != OpFamily::CONVERT &&
        op.family != OpFamily::SELECT && wanted(op))
      out.push_back(op.op);
  std::ranges::stable_sort(out, {}, [](Op op) { return op_info(op).cost; });
  return out;
}

const std::vector<Op>& unary_ops() {
  static const auto ops = ops_where([](const OpInfo& op) { return op.kind == OpKind::UNARY; });
  return ops;
}

/// Of two or three floats. Sums and products that every backend has come twice: what a backend does
/// not claim is made of them.
const std::vector<Op>& binary_ops() {
  static const auto ops = [] {
    std::vector<Op> all = ops_where([](const OpInfo& op) {
      return op.arity > 1 && op.kind != OpKind::COMPARE && takes(op.types, DType::kF32);
    });
    for (size_t i = all.size(); i-- > 0;) {
      const OpFamily family = op_family(all[i]);
      if (!is_optional(all[i]) && (family == OpFamily::SUM || family == OpFamily::PRODUCT))
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(i), all[i]);
    }
    return all;
  }();
  return ops;
}

const std::vector<Op>& integer_ops() {
  static const auto ops = ops_where([](const OpInfo& op) {
    return op.arity <= 2 && op.kind != OpKind::COMPARE && takes(op.types, DType::kI32);
  });
  return ops;
}

const std::vector<Op>& compare_ops() {
  static const auto ops = ops_where([](const OpInfo& op) { return op.kind == OpKind::COMPARE; });
  return ops;
}

/// A second operand of the dtype and shape of the first.
Entry second_operand(Grower& g, const Entry& x) {
  Entry y = is_float(x.node->dtype) ? g.any_float() : g.any_int();
  if (g.choices().chance(15)) y = g.draw_constant(x.node->dtype, x.node->shape);
  return g.to_shape(g.to_dtype(y, x.node->dtype), x.node->shape);
}

Entry apply_unary(Grower& g, Op op, Entry x) {
  double low = 0, high = 0;
  switch (op_family(op)) {
    case OpFamily::QUOTIENT:
      x = g.positive(x);
      low = 1 / x.high, high = 1 / x.low;
      break;
    case OpFamily::ROOT:
      x = g.positive(x);
      low = std::sqrt(x.low), high = std::sqrt(x.high);
      break;
    case OpFamily::LOG:
      x = g.positive(x);
      low = std::log2(x.low), high = std::log2(x.high);
      break;
    case OpFamily::POWER:
      x = g.scaled(x, 6);
      low = std::exp(x.low), high = std::exp(x.high);
      break;
    case OpFamily::ANGLE:
      x = g.scaled(x, g.choices().chance(50) ? 30 : 3);
      low = -1, high = 1;
      break;
    case OpFamily::SIGN:
      low = -x.high, high = -x.low;
      break;
    default:
      low = std::floor(x.low), high = std::ceil(x.high);
      break;
  }
  return {g.build().unary(op, x.node), low, high};
}

}  // namespace

Entry full_range(NodeRef node) {
  const DType dtype = node->dtype;
  return {std::move(node), lowest(dtype).as_double(), highest(dtype).as_double()};
}

Entry grow_unary(Grower& g) { return apply_unary(g, g.choices().pick(unary_ops()), g.any_float()); }

Entry grow_binary(Grower& g) {
  Entry x = g.any_float();
  Entry y = second_operand(g, x);
  const Op op = g.choices().pick(binary_ops());
  const double comfort = Grower::comfort(x.node->dtype);
  if (op == Op::MUL || op == Op::FMA) {
    x = g.scaled(x, std::sqrt(comfort / 2));
    y = g.scaled(y, std::sqrt(comfort / 2));
  } else {
    x = g.scaled(x, comfort / 4);
    y = op == Op::FDIV ? g.positive(y) : g.scaled(y, comfort / 4);
  }
  double bound = std::max(x.magnitude(), y.magnitude());
  if (op == Op::ADD || op == Op::SUB) bound = x.magnitude() + y.magnitude();
  if (op == Op::FDIV) bound = x.magnitude() / y.low;
  if (op == Op::MUL || op == Op::FMA) bound = x.magnitude() * y.magnitude();
  if (op == Op::FMA) {
    const Entry z = g.scaled(second_operand(g, x), comfort / 4);
    bound += z.magnitude();
    return {g.build().fma(x.node, y.node, z.node), -bound, bound};
  }
  Entry out{g.build().binary(op, x.node, y.node), -bound, bound};
  const bool positive = x.low >= 0 && y.low >= 0 && op != Op::SUB;
  if (positive) out.low = op == Op::ADD ? x.low + y.low : 0;
  if (op == Op::MAX) out.low = std::max(x.low, y.low), out.high = std::max(x.high, y.high);
  if (op == Op::MIN) out.low = std::min(x.low, y.low), out.high = std::min(x.high, y.high);
  return out;
}

Entry grow_integer(Grower& g) {
  const Entry x = g.any_int();
  const Op op = g.choices().pick(integer_ops());
  if (op == Op::NEG) return full_range(g.build().unary(op, x.node));
  Entry y = second_operand(g, x);
  if (op == Op::SHL || op == Op::SHR) {  // a count that shifts something out, not all
    const Entry seven = g.constant(x.node->dtype, 7, x.node->shape);
    y.node = g.build().binary(Op::AND, y.node, seven.node);
  }
  return full_range(g.build().binary(op, x.node, y.node));
}

Entry grow_compare(Grower& g) {
  const Entry x = g.choices().chance(70) ? g.any_float() : g.any_int();
  const Entry y = second_operand(g, x);
  return {g.build().binary(g.choices().pick(compare_ops()), x.node, y.node), 0, 1};
}

Entry grow_where(Grower& g) {
  const Entry x = g.choices().chance(70) ? g.any_float() : g.any_int();
  const Entry y = second_operand(g, x);
  const Entry condition = g.any_bool(x.node->shape);
  return {g.build().where(condition.node, x.node, y.node), std::min(x.low, y.low),
          std::max(x.high, y.high)};
}

Entry grow_cast(Grower& g) {
  const Entry x = g.any();
  const DType from = x.node->dtype;
  if (is_int(from) && g.choices().chance(25)) {
    for (const DType to : all_dtypes())
      if (is_int(to) && to != from && dtype_size(to) == dtype_size(from))
        return full_range(g.build().bit_cast(x.node, to));
  }
  DType to = all_dtypes()[g.choices().below(all_dtypes().size())];
  if (g.choices().chance(50)) to = g.choices().chance(70) ? g.main_float() : g.main_int();
  return g.to_dtype(x, to);
}

}  // namespace tenon::conformance::graphs
