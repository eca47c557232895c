// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that move, reduce or index: movement ops, reductions, take and store, and their patterns.
#include <algorithm>
#include <array>
#include <cmath>

#include "conformance/cases/graphs/domains.hpp"
#include "conformance/cases/graphs/regions.hpp"
#include "conformance/cases/graphs/steps.hpp"

namespace tenon::conformance::graphs {
namespace {

double reduced_terms(const Shape& shape, const std::vector<int>& axes) {
  double terms = 1;
  for (const int axis : axes) terms *= static_cast<double>(shape[static_cast<size_t>(axis)].max());
  return std::max(terms, 1.0);
}

Entry reduced(Grower& g, Op op, Entry x, const std::vector<int>& axes) {
  const DType dtype = x.node->dtype;
  const double terms = reduced_terms(x.node->shape, axes);
  DType accumulator = DType::kVoid;
  if (is_float(dtype)) {
    if (op == Op::MUL && std::pow(std::max(x.magnitude(), 1.0), terms) > Grower::comfort(dtype))
      op = Op::MAX;
    if (op == Op::ADD) x = g.scaled(x, Grower::comfort(dtype) / terms);
    if (is_small_float(dtype) && (op == Op::ADD || op == Op::MUL)) accumulator = DType::kF32;
  }
  Entry out{g.build().reduce(op, x.node, axes, accumulator), x.low, x.high};
  if (op == Op::ADD)
    out.low = std::min(x.low * terms, x.low), out.high = std::max(x.high * terms, x.high);
  if (op == Op::MUL) {
    out.high = std::pow(std::max(x.magnitude(), 1.0), terms);
    out.low = -out.high;
  }
  if (is_int(dtype)) out.low = lowest(dtype).as_double(), out.high = highest(dtype).as_double();
  if (dtype == DType::kBool) out.low = 0, out.high = 1;
  return out;
}

/// Integers that mostly lie inside [0, size).
Entry positions(Grower& g, const Shape& shape, const Dim& size) {
  const Entry x = g.any_int();
  if (size.is_const() && size.value() > 1 && size.value() < 120 && g.choices().chance(50)) {
    const Entry fitted = g.to_shape(g.to_dtype(x, DType::kI32), shape);
    const Entry divisor = g.constant(DType::kI32, static_cast<double>(size.value()), shape);
    return {g.build().binary(Op::MOD, fitted.node, divisor.node), 0, 0};
  }
  return g.param(g.choices().chance(50) ? DType::kI32 : DType::kI64, shape,
                 index_domain(size.min()));
}

}  // namespace

Entry grow_reduce(Grower& g) {
  const Entry x = with_axis(g, g.any());
  constexpr Op kReduce[] = {Op::ADD, Op::ADD, Op::MAX, Op::MIN, Op::MUL};
  const Op op = g.choices().pick(kReduce);
  return reduced(g, op, x, draw_axes(g, x.node->shape));
}

Entry grow_take(Grower& g) {
  Entry x = with_axis(g, g.any());
  const int axis = axis_of(g, x.node->shape);
  Shape shape = x.node->shape;
  if (g.choices().chance(60)) shape[static_cast<size_t>(axis)] = Dim(g.choices().between(1, 40));
  if (!g.fits(shape)) return x;
  const Entry index = positions(g, shape, x.node->shape[static_cast<size_t>(axis)]);
  return {g.build().take(x.node, index.node, axis), std::min(x.low, 0.0), std::max(x.high, 0.0)};
}

Entry grow_store(Grower& g) {
  const Entry x = with_axis(g, g.any());
  const DType dtype = x.node->dtype;
  const int axis = axis_of(g, x.node->shape);
  Shape shape = x.node->shape;
  const int64_t count = g.choices().between(1, 8);
  shape[static_cast<size_t>(axis)] = Dim(count);
  const Entry index = positions(g, shape, x.node->shape[static_cast<size_t>(axis)]);
  const Entry values = g.param(dtype, shape);
  const bool adds = g.choices().chance(40) && !is_small_float(dtype);
  Entry out{g.build().store(x.node, index.node, values.node, axis,
                            adds ? StoreMode::kAdd : StoreMode::kLast),
            std::min(x.low, values.low), std::max(x.high, values.high)};
  if (adds) {
    const double more = static_cast<double>(count) * values.magnitude();
    out.low = x.low - more, out.high = x.high + more;
  }
  return out;
}

Entry grow_leaf(Grower& g) {
  const Shape shape = g.draw_shape();
  if (shape.empty() || g.choices().chance(30)) return g.draw_constant(g.main_float(), shape);
  const int axis = axis_of(g, shape);
  const double most = static_cast<double>(shape[static_cast<size_t>(axis)].max());
  const Entry index{g.build().index(axis, shape, DType::kI32), 0, most};
  return g.choices().chance(50) ? g.to_dtype(index, g.main_float()) : index;
}

Entry grow_matmul(Grower& g) {
  const Dim m = g.draw_dim(), n = g.choices().chance(50) ? g.draw_dim() : Dim(7);
  const Dim k(g.choices().between(1, 40));
  if (!g.fits({m, n, k})) return grow_reduce(g);
  const DType dtype = g.main_float();
  const Entry a = g.param(dtype, {m, k}, {.low = -1, .high = 2});
  const Entry b = g.param(dtype, {k, n}, {.low = -1, .high = 2});
  const Entry left =
      g.to_shape({g.build().reshape(a.node, {m, Dim(1), k}), a.low, a.high}, {m, n, k});
  const NodeRef turned = g.build().permute(b.node, {1, 0});
  const Entry right =
      g.to_shape({g.build().reshape(turned, {Dim(1), n, k}), b.low, b.high}, {m, n, k});
  const Entry terms{g.build().binary(Op::MUL, left.node, right.node), -2, 4};
  const Entry sum = reduced(g, Op::ADD, terms, {2});
  return {g.build().reshape(sum.node, {m, n}), sum.low, sum.high};
}

Entry grow_narrow_matmul(Grower& g) {
  constexpr std::array<std::array<DType, 3>, 4> kKinds{{{DType::kI8, DType::kI8, DType::kI32},
                                                        {DType::kU8, DType::kI8, DType::kI32},
                                                        {DType::kI8, DType::kI8, DType::kI32},
                                                        {DType::kBF16, DType::kBF16, DType::kF32}}};
  // Signed bytes twice: what takes them for unsigned ones has more to get wrong.
  const std::array<DType, 3>& kind = kKinds[g.choices().below(kKinds.size())];
  const DType x = kind[0], y = kind[1], sum = kind[2];
  // Mostly of whole dot products, in tiles of many rows.
  const Dim m(g.choices().between(8, 20)), n(g.choices().between(8, 20));
  const int64_t terms = g.choices().between(1, 8) * 4;
  const Dim k(g.choices().chance(80) ? terms : terms - g.choices().between(1, 3));
  const Shape whole{m, n, k};
  if (!g.fits(whole)) return grow_reduce(g);
  Builder& b = g.build();
  double magnitude = static_cast<double>(k.max());
  const auto factor = [&](DType dtype, const Dim& own, const Shape& ones) {
    const bool is_whole = dtype != DType::kBF16;
    const Domain domain = is_whole ? Domain{.low = is_signed(dtype) ? -128.0 : 0.0,
                                            .high = is_signed(dtype) ? 127.0 : 255.0}
                                   : Domain{.low = -2, .high = 2};
    const bool along_sum = g.choices().chance(50);
    const Entry param = g.param(dtype, along_sum ? Shape{own, k} : Shape{k, own}, domain);
    magnitude *= param.magnitude();
    const NodeRef rows = along_sum ? param.node : b.permute(param.node, {1, 0});
    return b.expand(b.reshape(b.cast(rows, sum), ones), whole);
  };
  const NodeRef left = factor(x, m, {m, Dim(1), k});
  const NodeRef right = factor(y, n, {Dim(1), n, k});
  const NodeRef products = b.reduce(Op::ADD, b.binary(Op::MUL, left, right), {2});
  return {b.reshape(products, {m, n}), -magnitude, magnitude};
}

Entry grow_softmax(Grower& g) {
  const Entry x = g.scaled(with_axis(g, g.any_float()), 8);
  const int axis = axis_of(g, x.node->shape);
  const Shape& shape = x.node->shape;
  Builder& b = g.build();
  const NodeRef top = b.expand(b.reduce(Op::MAX, x.node, {axis}), shape);
  const NodeRef powers = b.unary(Op::EXP, b.binary(Op::SUB, x.node, top));
  const NodeRef sum = b.expand(b.reduce(Op::ADD, powers, {axis}), shape);
  return {b.binary(Op::FDIV, powers, sum), 0, 1};
}

Entry grow_cat(Grower& g) {
  Entry x = with_axis(g, g.any_float());
  const Entry y = g.to_shape(g.to_dtype(g.any_float(), x.node->dtype), x.node->shape);
  const auto axis = static_cast<size_t>(axis_of(g, x.node->shape));
  Shape whole = x.node->shape;
  whole[axis] = whole[axis] + whole[axis];
  if (!g.fits(whole)) return x;
  std::vector<std::pair<Dim, Dim>> after(whole.size()), before(whole.size());
  after[axis].second = before[axis].first = x.node->shape[axis];
  const Scalar fill = zero(x.node->dtype);
  return {g.build().binary(Op::ADD, g.build().pad(x.node, after, fill),
                           g.build().pad(y.node, before, fill)),
          std::min({x.low, y.low, 0.0}), std::max({x.high, y.high, 0.0})};
}

Entry grow_region(Grower& g) {
  const Entry x = g.any();
  if (g.choices().chance(50)) {
    const NodeRef trips = g.param(DType::kI64, {}, {.low = 0, .high = 5, .bounded = true}).node;
    const Entry step = g.to_shape(g.param(x.node->dtype, x.node->shape), x.node->shape);
    const Entry start =
        is_float(x.node->dtype) ? g.scaled(x, Grower::comfort(x.node->dtype) / 2) : x;
    const double more = 5 * step.magnitude();
    return {loop_over(g.build(), trips, start.node, step.node, g.choices().chance(50)),
            start.low - more, start.high + more};
  }
  const NodeRef condition = g.param(DType::kBool, {}).node;
  return {branch_on(g.build(), condition, x.node), std::min(x.low, 1.0), x.high + 1};
}

}  // namespace tenon::conformance::graphs
