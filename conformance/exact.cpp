// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks a graph with its values and says of each node whether every legal order gives them.
#include "conformance/exact.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tenon::conformance {
namespace {

int significand_bits(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 53;
    case DType::kF32:
      return 24;
    case DType::kF16:
      return 11;
    case DType::kBF16:
      return 8;
    case DType::kF8E4M3:
      return 4;
    case DType::kF8E5M2:
      return 3;
    default:
      return 64;
  }
}

/// The largest power of two in [2^-12, 1] that divides every value, and the largest magnitude.
struct Grid {
  double quantum = 1, most = 0;
  bool finite = true;

  void see(const Array& array) {
    for (int64_t i = 0; i < array.count() && finite; ++i) {
      const double value = std::abs(array.at(i).as_double());
      finite = std::isfinite(value);
      while (finite && quantum > 0x1p-13 && value / quantum != std::floor(value / quantum))
        quantum /= 2;
      most = std::max(most, value);
    }
  }
  bool usable() const { return finite && quantum > 0x1p-13; }
  bool sums_fit(double terms, DType accumulator) const {
    return usable() && most * terms <= std::ldexp(quantum, significand_bits(accumulator));
  }
};

struct Value {
  Array array;
  bool pinned = true;
};

bool exact_products(const Value& a, const Value& b, const Array& out) {
  Grid left, right;
  left.see(a.array);
  right.see(b.array);
  if (!left.usable() || !right.usable()) return false;
  const double quantum = left.quantum * right.quantum;
  return left.most * right.most <= std::ldexp(quantum, significand_bits(out.dtype));
}

bool pinned_reduce(const Node& node, const Value& x) {
  const auto& reduce = node.as<ReduceAttr>();
  if (reduce.op != Op::ADD && reduce.op != Op::MUL) return true;
  double terms = 1;
  for (const int axis : reduce.axes)
    terms *= static_cast<double>(x.array.shape[static_cast<size_t>(axis)]);
  Grid grid;
  grid.see(x.array);
  if (reduce.op == Op::ADD) return grid.sums_fit(terms, reduce.accumulator);
  return grid.finite && grid.quantum == 1 &&
         std::pow(std::max(grid.most, 1.0), terms) <=
             std::ldexp(1, significand_bits(reduce.accumulator));
}

bool pinned_store(const Node& node, const Value& x, const Value& values) {
  if (node.as<StoreAttr>().mode == StoreMode::kLast) return true;
  Grid grid;
  grid.see(x.array);
  grid.see(values.array);
  return grid.sums_fit(static_cast<double>(values.array.count()) + 1, node.dtype);
}

bool pinned(const Node& node, const std::vector<const Value*>& in, const Array& out) {
  for (const Value* value : in)
    if (!value->pinned) return false;
  const bool on_floats = is_float(node.dtype) || (!in.empty() && is_float(in[0]->array.dtype));
  if (!on_floats) return node.op != Op::IF && node.op != Op::LOOP && node.op != Op::COPY;
  switch (node.op) {
    case Op::CONST:
    case Op::PARAM:
    case Op::INDEX:
    case Op::VIEW:
    case Op::TAKE:
    case Op::WHERE:
    case Op::ADD:
    case Op::SUB:
    case Op::NEG:
    case Op::MAX:
    case Op::MIN:
    case Op::CMPLT:
    case Op::CMPNE:
    case Op::CMPEQ:
      return true;
    case Op::CAST:
      return !node.as<CastAttr>().bits;
    case Op::MUL:
      return exact_products(*in[0], *in[1], out);
    case Op::REDUCE:
      return pinned_reduce(node, *in[0]);
    case Op::STORE:
      return pinned_store(node, *in[0], *in[2]);
    default:
      return false;
  }
}

}  // namespace

bool has_float_sums(const Graph& graph) {
  return std::ranges::any_of(topological(graph.outputs), [](const NodeRef& node) {
    if (!is_float(node->dtype)) return false;
    if (node->op == Op::STORE) return node->as<StoreAttr>().mode == StoreMode::kAdd;
    if (node->op != Op::REDUCE) return false;
    const Op op = node->as<ReduceAttr>().op;
    return op == Op::ADD || op == Op::MUL;
  });
}

std::vector<bool> pinned_outputs(const Case& test) {
  std::map<const Node*, Value> values;
  for (size_t i = 0; i < test.graph.params.size(); ++i)
    values[test.graph.params[i].get()] = {test.inputs[i], true};
  for (const NodeRef& node : topological(test.graph.outputs)) {
    if (values.contains(node.get())) continue;
    std::vector<const Array*> arrays;
    std::vector<const Value*> operands;
    for (const NodeRef& source : node->sources) {
      operands.push_back(&values.at(source.get()));
      arrays.push_back(&operands.back()->array);
    }
    Array out = evaluate_node(*node, arrays, test.symbols);
    const bool is_pinned = pinned(*node, operands, out);
    values[node.get()] = {std::move(out), is_pinned};
  }
  std::vector<bool> result;
  for (const NodeRef& output : test.graph.outputs) result.push_back(values.at(output.get()).pinned);
  return result;
}

}  // namespace tenon::conformance
