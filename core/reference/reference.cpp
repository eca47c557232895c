// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates nodes, and graphs with their regions.
#include "core/reference/reference.hpp"

#include <map>
#include <unordered_map>

#include "core/reference/kernels.hpp"
#include "core/reference/region.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

using reference::Operands;

Array filled(const Scalar& value, std::vector<int64_t> shape) {
  Array out = Array::zeros(value.dtype, std::move(shape));
  for (int64_t i = 0; i < out.count(); ++i) out.set(i, value);
  return out;
}

Array dim_value(const Node& node, const SymbolValues& symbols) {
  const auto& attr = node.as<ParamAttr>();
  TN_REQUIRE(attr.is_dim, "[param] expected an input for %{}, got none", attr.name);
  Array out = Array::zeros(node.dtype, {});
  out.set(0, Scalar::of_int(node.dtype, attr.dim.evaluate(symbols)));
  return out;
}

std::vector<Array> copies(const Operands& operands, size_t begin, size_t end) {
  std::vector<Array> out;
  for (size_t i = begin; i < end; ++i) out.push_back(*operands[i]);
  return out;
}

std::vector<Array> run_if(const IfAttr& attr, const Operands& operands,
                          const SymbolValues& symbols) {
  const Graph& taken = operands[0]->at(0).bits ? *attr.then_graph : *attr.else_graph;
  return evaluate(taken, copies(operands, 1, operands.size()), symbols);
}

std::vector<Array> run_loop(const LoopAttr& attr, const Operands& operands,
                            const SymbolValues& symbols) {
  const size_t carried_end = 1 + static_cast<size_t>(attr.carried);
  std::vector<Array> carried = copies(operands, 1, carried_end);
  const std::vector<Array> captured = copies(operands, carried_end, operands.size());
  const int64_t trips = operands[0]->at(0).as_int();
  for (int64_t i = 0; i < trips; ++i) {
    Array counter = Array::zeros(DType::kI64, {});
    counter.set(0, Scalar::of_int(DType::kI64, i));
    std::vector<Array> inputs{std::move(counter)};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    std::vector<Array> results = evaluate(*attr.body, inputs, symbols);
    if (attr.is_while) {
      if (!results[0].at(0).bits) break;
      results.erase(results.begin());
    }
    carried = std::move(results);
  }
  return carried;
}

/// Every result of an IF, LOOP or CALL; nodes that differ only in `result` share one evaluation.
std::vector<Array> run_region(const Node& node, const Operands& operands,
                              const SymbolValues& symbols) {
  if (node.op == Op::IF) return run_if(node.as<IfAttr>(), operands, symbols);
  if (node.op == Op::CALL)
    return evaluate(*node.as<CallAttr>().body, copies(operands, 0, operands.size()), symbols);
  return run_loop(node.as<LoopAttr>(), operands, symbols);
}

}  // namespace

Array evaluate_node(const Node& node, const std::vector<const Array*>& operands,
                    const SymbolValues& symbols) {
  if (node.op == Op::CAST && node.as<CastAttr>().bits)
    return reference::bit_cast(node.dtype, *operands[0]);
  if (is_elementwise(node.op)) return reference::elementwise(node, operands);
  if (node.op == Op::CONST)
    return filled(node.as<ConstAttr>().value, concrete_shape(node.shape, symbols));
  if (node.op == Op::PARAM) return dim_value(node, symbols);
  if (node.op == Op::INDEX) return reference::index(node, concrete_shape(node.shape, symbols));
  if (node.op == Op::VIEW) return reference::view(node, *operands[0], symbols);
  if (node.op == Op::REDUCE) return reference::reduce(node, *operands[0]);
  if (node.op == Op::TAKE) return reference::take(node, *operands[0], *operands[1]);
  if (node.op == Op::STORE) return reference::store(node, *operands[0], *operands[1], *operands[2]);
  if (node.op == Op::COPY) return *operands[0];
  if (reference::is_region(node))
    return std::move(run_region(node, operands, symbols)[reference::result_of(node)]);
  fail(ErrorKind::kInvalid, "[{}] expected an operator of graphs, got one of programs",
       op_info(node.op).text);
}

std::vector<Array> evaluate(const Graph& graph, const std::vector<Array>& inputs,
                            const SymbolValues& given) {
  TN_REQUIRE(inputs.size() == graph.params.size(), "[{}] expected {} inputs, got {}", graph.name,
             graph.params.size(), inputs.size());
  std::vector<std::vector<int64_t>> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TN_REQUIRE(inputs[i].dtype == graph.params[i]->dtype, "[{}] expected {} for %{}, got {}",
               graph.name, dtype_name(graph.params[i]->dtype),
               graph.params[i]->as<ParamAttr>().name, dtype_name(inputs[i].dtype));
    shapes.push_back(inputs[i].shape);
  }
  const SymbolValues symbols = bind_symbols(graph, shapes, given);

  const std::vector<NodeRef> order = topological(graph.outputs);
  std::unordered_map<const Node*, int> uses;
  for (const NodeRef& node : order)
    for (const NodeRef& source : node->sources) ++uses[source.get()];
  for (const NodeRef& output : graph.outputs) ++uses[output.get()];

  std::unordered_map<const Node*, const Array*> at;
  std::unordered_map<const Node*, Array> values;
  std::map<reference::RegionKey, std::vector<Array>> regions;
  for (size_t i = 0; i < inputs.size(); ++i) at[graph.params[i].get()] = &inputs[i];
  for (const NodeRef& node : order) {
    if (at.contains(node.get())) continue;
    Operands operands;
    for (const NodeRef& source : node->sources) operands.push_back(at.at(source.get()));
    if (reference::is_region(*node)) {
      auto [region, added] = regions.try_emplace(reference::region_key(*node));
      if (added) region->second = run_region(*node, operands, symbols);
      values[node.get()] = region->second[reference::result_of(*node)];
    } else {
      values[node.get()] = evaluate_node(*node, operands, symbols);
    }
    at[node.get()] = &values.at(node.get());
    for (const NodeRef& source : node->sources)
      if (--uses[source.get()] == 0) values.erase(source.get());
  }
  std::vector<Array> outputs;
  for (const NodeRef& output : graph.outputs) outputs.push_back(*at.at(output.get()));
  return outputs;
}

}  // namespace tenon
