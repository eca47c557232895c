// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values for a template; the params and symbols of a finished graph.
#include "conformance/cases/graphs/template.hpp"

#include <map>
#include <set>

#include "conformance/cases/graphs/shapes.hpp"

namespace tenon::conformance::graphs {
namespace {

constexpr ValueMode kModes[] = {ValueMode::kExact, ValueMode::kConditioned, ValueMode::kSpecial,
                                ValueMode::kConditioned};

uint64_t shape_hash(const Origin& origin) {
  uint64_t hash = origin.recipe;
  for (const uint64_t draw : origin.draws) hash = mix(hash, draw);
  return hash;
}

}  // namespace

Case instantiate(const Template& shape, uint64_t seed, uint64_t index, uint64_t value_seed) {
  Random random(value_seed);
  Case result;
  result.origin = shape.origin;
  result.origin.value_seed = value_seed;
  result.seed = seed;
  result.index = index;
  result.cell = shape.cell;
  result.graph = shape.graph;
  result.refusal = shape.refusal;
  result.sequence = shape.sequence;
  // The high half is that of all cases of the template: it chooses what changes the graph.
  result.oracle_seed = shape_hash(shape.origin) << 32 | (mix(value_seed, 1) & UINT32_MAX);
  result.mode = kModes[index % 4];
  result.symbols = draw_symbol_values(random, shape.graph.symbols);
  for (size_t i = 0; i < shape.graph.params.size(); ++i) {
    const Node& param = *shape.graph.params[i];
    Array array = Array::zeros(param.dtype, concrete(param.shape, result.symbols));
    fill(array, shape.domains[i], result.mode, random);
    result.inputs.push_back(std::move(array));
  }
  tie(result.inputs, shape.domains, random);
  return result;
}

void finish_graph(Template& shape, std::vector<NodeRef> outputs,
                  const std::vector<std::pair<NodeRef, Domain>>& params) {
  std::set<const Node*> used;
  std::map<std::string, Expr> symbols;
  for (const NodeRef& node : topological(outputs)) {
    used.insert(node.get());
    for (const Dim& dim : node->shape) dim.collect_symbols(symbols);
    if (const auto* param = std::get_if<ParamAttr>(&node->attr))
      if (param->is_dim) param->dim.collect_symbols(symbols);
  }
  shape.graph = Graph{};
  shape.graph.name = "conformance";
  shape.domains.clear();
  for (const auto& [param, domain] : params) {
    if (!used.contains(param.get())) continue;
    shape.graph.params.push_back(param);
    shape.domains.push_back(domain);
  }
  for (const auto& [name, symbol] : symbols) shape.graph.symbols.push_back(symbol);
  shape.graph.output_names.assign(outputs.size(), "");
  shape.graph.outputs = std::move(outputs);
}

}  // namespace tenon::conformance::graphs
