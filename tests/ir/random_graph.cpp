// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ir/random_graph.hpp"

#include <algorithm>
#include <random>

namespace tenon {
namespace {

class GraphGenerator {
 public:
  GraphGenerator(Builder& builder, uint64_t seed) : b_(builder), random_(seed) {}

  Graph graph(int steps, int depth) {
    Graph g;
    g.name = below(4) ? "g" + std::to_string(below(100)) : "odd name\n\"";
    const int sizes = below(3);
    for (int i = 0; i < sizes; ++i) g.symbols.push_back(Expr::symbol(i ? "m" : "n", 1, 40 + i));
    symbols_ = g.symbols;
    for (int i = 0; i < 2 + below(3); ++i) {
      const char* names[] = {"x", "y", "a.b", "", "x", "odd name", "7", "graph"};
      g.params.push_back(b_.param(names[below(8)], dtype(), shape(), static_cast<uint64_t>(i)));
    }
    values_ = g.params;
    for (int i = 0; i < steps; ++i) values_.push_back(node(depth));
    for (int i = 0; i < 1 + below(3); ++i) {
      const char* names[] = {"", "y", "out.1", "odd \\", "x", "12"};
      g.outputs.push_back(any());
      g.output_names.push_back(names[below(6)]);
    }
    return g;
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }
  const NodeRef& any() {
    return values_[static_cast<size_t>(below(static_cast<int>(values_.size())))];
  }
  DType dtype() { return all_dtypes()[static_cast<size_t>(below(15))]; }

  Dim dim() {
    if (symbols_.empty() || below(2)) return below(5);
    const Expr s = symbols_[static_cast<size_t>(below(static_cast<int>(symbols_.size())))];
    switch (below(4)) {
      case 0:
        return s * 2 + 1;
      case 1:
        return ceil_div(s, 4);
      case 2:
        return max(s, 7);
      default:
        return s;
    }
  }

  Shape shape() {
    Shape s;
    for (int i = below(4); i > 0; --i) s.push_back(dim());
    return s;
  }

  Scalar scalar(DType d) {
    if (d == DType::kBool) return {d, static_cast<uint64_t>(below(2))};
    if (below(2)) return Scalar::of(d, (below(400) - 200) / 8.0);
    const size_t bits = dtype_bits(d);
    return {d, random_() >> (64 - bits)};
  }

  NodeRef of_type(DType d, const Shape& s) {
    for (int tries = 0; tries < 4; ++tries)
      if (const NodeRef& x = any(); x->shape == s) return x->dtype == d ? x : b_.cast(x, d);
    return b_.constant(scalar(d), s);
  }

  NodeRef elementwise() {
    std::vector<const OpInfo*> ops;
    const NodeRef x = any();
    for (const OpInfo& info : all_ops()) {
      const bool fits =
          info.types == OpTypes::ALL ||
          (is_float(x->dtype) && (info.types == OpTypes::FLOAT || info.types == OpTypes::NUM)) ||
          (is_int(x->dtype) && info.types != OpTypes::FLOAT) ||
          (x->dtype == DType::kBool && info.types == OpTypes::BITS);
      if (is_elementwise(info.op) && info.op != Op::CAST && fits) ops.push_back(&info);
    }
    const OpInfo& info = *ops[static_cast<size_t>(below(static_cast<int>(ops.size())))];
    if (info.arity == 1) return b_.unary(info.op, x);
    const NodeRef y = of_type(x->dtype, x->shape);
    if (info.arity == 2) return b_.binary(info.op, x, y);
    if (info.op == Op::WHERE) return b_.where(of_type(DType::kBool, x->shape), x, y);
    return b_.fma(x, y, of_type(x->dtype, x->shape));
  }

  std::vector<int> axes(size_t rank) {
    std::vector<int> list;
    for (size_t i = 0; i < rank; ++i)
      if (below(2)) list.push_back(static_cast<int>(i));
    return list;
  }

  NodeRef view() {
    const NodeRef x = any();
    const size_t rank = x->shape.size();
    std::vector<std::pair<Dim, Dim>> pairs;
    switch (below(6)) {
      case 0: {
        Shape s = x->shape;
        s.insert(s.begin() + below(static_cast<int>(rank) + 1), Dim(1));
        return s.size() > 6 ? b_.reshape(x, {product(x->shape)}) : b_.reshape(x, s);
      }
      case 1: {
        Shape s = x->shape;
        for (Dim& d : s)
          if (d.is_const(1)) d = dim();
        return b_.expand(x, s);
      }
      case 2: {
        std::vector<int> order(rank);
        for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int>(i);
        std::ranges::shuffle(order, random_);
        return b_.permute(x, order);
      }
      case 3:
        for (size_t i = 0; i < rank; ++i)
          pairs.emplace_back(below(3), below(3) ? Dim(below(3)) : dim());
        return b_.pad(x, pairs, below(2) ? zero(x->dtype) : scalar(x->dtype));
      case 4:
        for (const Dim& d : x->shape) {
          const Dim half = floor_div(d, 2);
          // Not every size is simple enough for a proof that half of it is within it.
          const bool proven = half.min() >= 0 && less(d, half).is_const(0) && (d - half).min() >= 0;
          pairs.emplace_back(below(2) ? d : (proven ? half : Dim(0)), d);
        }
        return b_.shrink(x, pairs);
      default:
        return b_.flip(x, axes(rank));
    }
  }

  NodeRef reduce() {
    const NodeRef x = any();
    const Op ops[] = {Op::ADD, Op::MUL, Op::MAX, Op::MIN};
    DType acc = DType::kVoid;
    if (is_float(x->dtype) && below(3) == 0) acc = DType::kF64;
    return b_.reduce(ops[below(4)], x, axes(x->shape.size()), acc);
  }

  NodeRef memory() {
    const NodeRef x = any();
    if (x->shape.empty()) return b_.copy(x, below(2) ? "cpu:0" : "disk:/tmp/x");
    const int axis = below(static_cast<int>(x->shape.size()));
    Shape s = x->shape;
    s[static_cast<size_t>(axis)] = dim();
    const NodeRef index = below(2) ? b_.index(axis, s, DType::kI32) : of_type(DType::kI64, s);
    if (below(2)) return b_.take(x, index, axis);
    return b_.store(x, index, of_type(x->dtype, s), axis,
                    below(2) ? StoreMode::kAdd : StoreMode::kLast);
  }

  /// A graph over params of the given types with outputs of the last `count` of them.
  GraphRef inner(const std::string& name, const std::vector<NodeRef>& params, size_t first,
                 size_t count, NodeRef extra, int depth) {
    GraphGenerator sub(b_, random_());
    sub.symbols_ = symbols_;
    Graph g;
    g.name = name;
    for (const NodeRef& p : params)
      g.params.push_back(b_.param("v" + std::to_string(g.params.size()), p->dtype, p->shape));
    sub.values_ = g.params;
    for (int i = 0; i < 4; ++i) sub.values_.push_back(sub.node(depth - 1));
    if (extra) g.outputs.push_back(sub.of_type(DType::kBool, {}));
    for (size_t i = first; i < first + count; ++i)
      g.outputs.push_back(sub.of_type(params[i]->dtype, params[i]->shape));
    g.output_names.resize(g.outputs.size());
    return std::make_shared<const Graph>(std::move(g));
  }

  NodeRef control(int depth) {
    std::vector<NodeRef> captured = {any(), any()};
    if (below(2)) {
      const GraphRef yes = inner("then", captured, 0, 2, nullptr, depth);
      const GraphRef no = inner(below(2) ? "else" : "then", captured, 0, 2, nullptr, depth);
      return b_.if_(of_type(DType::kBool, {}), captured, yes, no, below(2));
    }
    const bool is_while = below(2);
    const NodeRef trips = of_type(DType::kI64, {});
    const NodeRef x = any();
    const GraphRef body =
        inner("body", {trips, x, captured[0]}, 1, 1, is_while ? trips : nullptr, depth);
    return b_.loop(trips, {x}, {captured[0]}, body, is_while, 0);
  }

  NodeRef node(int depth) {
    switch (below(12)) {
      case 0:
        return b_.constant(scalar(dtype()), shape());
      case 1:
        return b_.cast(any(), dtype());
      case 2:
        return b_.dim(dim() + 3);
      case 3:
        return reduce();
      case 4:
      case 5:
        return view();
      case 6:
        return memory();
      case 7:
        return depth > 0 ? control(depth) : elementwise();
      case 8: {
        const NodeRef x = any();
        return dtype_size(x->dtype) == 4 ? b_.bit_cast(x, DType::kU32) : b_.bit_cast(x, x->dtype);
      }
      default:
        return elementwise();
    }
  }

  Builder& b_;
  std::mt19937_64 random_;
  std::vector<Expr> symbols_;
  std::vector<NodeRef> values_;
};

}  // namespace

Graph random_graph(Builder& builder, uint64_t seed, int steps) {
  return GraphGenerator(builder, seed).graph(steps, 2);
}

}  // namespace tenon
