// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random graphs over one builder, and inputs full of special values, made from a seed.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "core/ir/build.hpp"
#include "core/reference/reference.hpp"

namespace tenon::test {

struct RandomGraph {
  Builder& builder;
  std::mt19937_64 random;
  std::vector<NodeRef> nodes;
  Graph graph;

  RandomGraph(Builder& b, uint64_t seed) : builder(b), random(seed) {}

  size_t pick(size_t n) { return random() % n; }
  template <class T>
  const T& of(const std::vector<T>& values) {
    return values[pick(values.size())];
  }

  Scalar value(DType dtype) {
    if (!is_float(dtype)) {
      static const std::vector<int64_t> ints{0,   1,    -1,  2,     3,         7,        8,
                                             127, -128, 255, 65535, INT64_MIN, INT64_MAX};
      return Scalar::of_int(dtype, pick(4) ? of(ints) : static_cast<int64_t>(random()));
    }
    static const std::vector<double> floats{0.0,   -0.0,     1.0,       -1.0,   0.5,     -0.5,  2.0,
                                            3.25,  INFINITY, -INFINITY, NAN,    1e-41,   -1e-7, 448,
                                            65504, 1e30,     0x1p-149,  5e-324, 1.7e308, 0.1};
    return Scalar::of(dtype, pick(4) ? of(floats) : std::ldexp(double(random() % 4001) - 2000, -7));
  }

  Array array(DType dtype, const std::vector<int64_t>& shape) {
    Array out = Array::zeros(dtype, shape);
    for (int64_t i = 0; i < out.count(); ++i) out.set(i, value(dtype));
    return out;
  }

  /// A node like `x` in dtype and shape, perhaps x itself.
  NodeRef like(const NodeRef& x) {
    std::vector<NodeRef> fits;
    for (const NodeRef& n : nodes)
      if (n->dtype == x->dtype && n->shape == x->shape) fits.push_back(n);
    if (!fits.empty() && pick(3)) return of(fits);
    return builder.constant(value(x->dtype), x->shape);
  }

  NodeRef condition(const NodeRef& x) {
    for (const NodeRef& n : nodes)
      if (n->dtype == DType::kBool && n->shape == x->shape && pick(2)) return n;
    return builder.binary(pick(2) ? Op::CMPLT : Op::CMPNE, like(x), x);
  }

  bool takes(OpTypes types, DType dtype) const {
    if (types == OpTypes::ALL) return true;
    if (types == OpTypes::FLOAT) return is_float(dtype);
    if (types == OpTypes::INT) return is_int(dtype);
    if (types == OpTypes::BITS) return !is_float(dtype);
    return dtype != DType::kBool;
  }

  NodeRef elementwise(const NodeRef& x) {
    std::vector<Op> ops;
    for (const OpInfo& info : all_ops())
      if (is_elementwise(info.op) && info.level != OpLevel::PROGRAM && info.op != Op::CAST &&
          takes(info.types, x->dtype))
        ops.push_back(info.op);
    const Op op = of(ops);
    if (op == Op::WHERE) return builder.where(condition(x), x, like(x));
    if (op == Op::FMA) return builder.fma(x, like(x), like(x));
    if (op_info(op).arity == 1) return builder.unary(op, x);
    return pick(2) ? builder.binary(op, x, like(x)) : builder.binary(op, like(x), x);
  }

  NodeRef cast(const NodeRef& x) {
    const std::vector<DType> all(all_dtypes().begin(), all_dtypes().end());
    const DType to = of(all);
    if (pick(4) == 0 && dtype_size(to) == dtype_size(x->dtype)) return builder.bit_cast(x, to);
    return builder.cast(x, to);
  }

  NodeRef view(const NodeRef& x) {
    const size_t rank = x->shape.size();
    std::vector<std::pair<Dim, Dim>> pairs;
    switch (pick(6)) {
      case 0: {
        Shape shape{product(x->shape)};
        if (pick(2)) shape.insert(shape.begin() + pick(2), Dim(1));
        return builder.reshape(x, shape);
      }
      case 1: {
        Shape shape = x->shape;
        for (Dim& d : shape)
          if (d.is_const(1) && pick(2)) d = Dim(3);
        return builder.expand(x, shape);
      }
      case 2: {
        std::vector<int> axes;
        for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int>(i));
        std::shuffle(axes.begin(), axes.end(), random);
        return builder.permute(x, axes);
      }
      case 3:
        if (product(x->shape).max() > 200) return x;
        for (size_t i = 0; i < rank; ++i) pairs.push_back({Dim(pick(2)), Dim(pick(3))});
        return builder.pad(x, pairs, pick(2) ? zero(x->dtype) : value(x->dtype));
      case 4:
        for (const Dim& d : x->shape) {
          const int64_t size = d.value(), begin = pick(size + 1);
          pairs.push_back({Dim(begin), Dim(begin + pick(size - begin + 1))});
          if (pick(2)) pairs.back() = {Dim(0), d};
        }
        return builder.shrink(x, pairs);
      default: {
        std::vector<int> axes;
        for (size_t i = 0; i < rank; ++i)
          if (pick(2)) axes.push_back(static_cast<int>(i));
        return builder.flip(x, axes);
      }
    }
  }

  NodeRef reduce(const NodeRef& x) {
    std::vector<int> axes;
    for (size_t i = 0; i < x->shape.size(); ++i)
      if (pick(2)) axes.push_back(static_cast<int>(i));
    return builder.reduce(of(std::vector<Op>{Op::ADD, Op::MUL, Op::MAX, Op::MIN}), x, axes);
  }

  NodeRef indexed(const NodeRef& x) {
    if (x->shape.empty()) return x;
    const int axis = static_cast<int>(pick(x->shape.size()));
    const NodeRef positions = builder.index(axis, x->shape, pick(2) ? DType::kI64 : DType::kI32);
    if (pick(2)) return builder.take(x, positions, axis);
    return builder.store(x, positions, like(x), axis, pick(2) ? StoreMode::kAdd : StoreMode::kLast);
  }

  /// Makes `count` nodes above `params` inputs; the last ones are the outputs.
  void grow(size_t params, size_t count) {
    const std::vector<DType> all(all_dtypes().begin(), all_dtypes().end());
    const DType favourite = of(all);
    static const std::vector<Shape> shapes{{Dim(2), Dim(3)}, {Dim(6)},
                                           {Dim(1), Dim(3)}, {},
                                           {Dim(0), Dim(3)}, {Dim(3), Dim(1), Dim(2)}};
    for (size_t i = 0; i < params; ++i) {
      graph.params.push_back(
          builder.param("p" + std::to_string(i), pick(3) ? favourite : of(all), of(shapes)));
      nodes.push_back(graph.params.back());
    }
    for (size_t i = 0; i < count; ++i) {
      const NodeRef x = nodes[nodes.size() - 1 - pick(std::min<size_t>(nodes.size(), 6))];
      const size_t kind = pick(10);
      NodeRef made = kind < 5   ? elementwise(x)
                     : kind < 6 ? cast(x)
                     : kind < 8 ? view(x)
                     : kind < 9 ? reduce(x)
                                : indexed(x);
      nodes.push_back(made);
    }
    for (size_t i = 0; i < 3 && i < nodes.size(); ++i)
      graph.outputs.push_back(nodes[nodes.size() - 1 - i]);
    graph.output_names.resize(graph.outputs.size());
  }

  std::vector<Array> inputs() {
    std::vector<Array> arrays;
    for (const NodeRef& p : graph.params)
      arrays.push_back(array(p->dtype, concrete_shape(p->shape, {})));
    return arrays;
  }
};

/// Equal bits, any NaN for a NaN.
inline bool same(const Array& a, const Array& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  for (int64_t i = 0; i < a.count(); ++i) {
    if (a.at(i) == b.at(i)) continue;
    if (!is_float(a.dtype) || !std::isnan(a.at(i).as_double()) || !std::isnan(b.at(i).as_double()))
      return false;
  }
  return true;
}

}  // namespace tenon::test
