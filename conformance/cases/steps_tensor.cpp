// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that move, reduce or index: movement ops, reductions, take and store, and their patterns.
#include <algorithm>
#include <cmath>

#include "conformance/cases/domains.hpp"
#include "conformance/cases/steps.hpp"

namespace tenon::conformance {
namespace {

int axis_of(Grower& g, const Shape& shape) {
  return static_cast<int>(g.choices().below(shape.size()));
}

/// An entry with at least one axis.
Entry with_axis(Grower& g, Entry x) {
  if (x.node->shape.empty()) x.node = g.build().reshape(x.node, {Dim(1)});
  return x;
}

Entry split_or_merge(Grower& g, const Entry& x) {
  Shape shape = x.node->shape;
  if (shape.size() > 1 && g.choices().chance(60)) {
    const size_t at = g.choices().below(shape.size() - 1);
    shape[at] = shape[at] * shape[at + 1];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  } else {
    const size_t at = g.choices().below(shape.size() + 1);
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), Dim(1));
    for (size_t i = 0; i < shape.size(); ++i)
      for (const int64_t factor : {2, 3, 5, 13})
        if (shape[i].is_const() && shape[i].value() > factor && shape[i].value() % factor == 0 &&
            g.choices().chance(30)) {
          shape[at == i ? i : at] = Dim(factor);
          shape[i] = Dim(shape[i].value() / factor);
          if (product(shape) == product(x.node->shape))
            return {g.build().reshape(x.node, shape), x.low, x.high};
          return x;
        }
  }
  return {g.build().reshape(x.node, shape), x.low, x.high};
}

Entry padded(Grower& g, const Entry& x) {
  std::vector<std::pair<Dim, Dim>> pairs;
  for (size_t i = 0; i < x.node->shape.size(); ++i)
    pairs.emplace_back(Dim(g.choices().between(0, 2)), Dim(g.choices().between(0, 2)));
  const double fill = g.choices().chance(50) ? 0 : 1;
  return {g.build().pad(x.node, pairs, Scalar::of(x.node->dtype, fill)), std::min(x.low, fill),
          std::max(x.high, fill)};
}

Entry shrunk(Grower& g, const Entry& x) {
  std::vector<std::pair<Dim, Dim>> ranges;
  for (const Dim& dim : x.node->shape) {
    const int64_t begin = g.choices().between(0, std::clamp<int64_t>(dim.min() - 1, 0, 3));
    const int64_t end = g.choices().between(0, std::clamp<int64_t>(dim.min() - 1 - begin, 0, 3));
    ranges.emplace_back(Dim(begin), dim - Dim(end));
  }
  return {g.build().shrink(x.node, ranges), x.low, x.high};
}

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

Entry grow_view(Grower& g) {
  const Entry x = with_axis(g, g.any());
  const Shape& shape = x.node->shape;
  switch (g.choices().below(6)) {
    case 0:
      return split_or_merge(g, x);
    case 1: {
      Shape large = shape;
      large.insert(large.begin() + axis_of(g, shape), g.draw_dim());
      return g.fits(large) && large.size() == shape.size() + 1 ? g.to_shape(x, large) : x;
    }
    case 2: {
      std::vector<int> axes(shape.size());
      for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
      for (size_t i = axes.size(); i > 1; --i) std::swap(axes[i - 1], axes[g.choices().below(i)]);
      return {g.build().permute(x.node, axes), x.low, x.high};
    }
    case 3:
      return padded(g, x);
    case 4:
      return shrunk(g, x);
    default:
      return {g.build().flip(x.node, {axis_of(g, shape)}), x.low, x.high};
  }
}

Entry grow_reduce(Grower& g) {
  const Entry x = with_axis(g, g.any());
  constexpr Op kReduce[] = {Op::ADD, Op::ADD, Op::MAX, Op::MIN, Op::MUL};
  std::vector<int> axes;
  for (int i = 0; i < static_cast<int>(x.node->shape.size()); ++i)
    if (g.choices().chance(40)) axes.push_back(i);
  if (axes.empty()) axes.push_back(axis_of(g, x.node->shape));
  return reduced(g, g.choices().pick(kReduce), x, axes);
}

Entry grow_take(Grower& g) {
  const Entry x = with_axis(g, g.any());
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
  if (shape.empty() || g.choices().chance(30))
    return g.constant(g.main_float(), g.choices().between(-3, 3) * 0.5, shape);
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
  const Entry x = with_axis(g, g.any_float());
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

}  // namespace tenon::conformance
