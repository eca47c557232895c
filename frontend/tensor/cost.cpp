// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/cost.hpp"

#include <algorithm>
#include <map>

#include "core/ir/flops.hpp"
#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"

namespace tenon {
namespace {

constexpr size_t kNone = ~size_t{0};

double elements(const Node& node) {
  const Dim count = product(node.shape);
  TN_REQUIRE(count.min() == count.max(), "[cost] expected sizes that are numbers, got {}",
             type_string(node));
  return static_cast<double>(count.max());
}

/// What a node needs, of the tensors in groups and beside them.
struct Needs {
  size_t group = kNone;
  bool has_data = false;     ///< an input that is in no group
  bool is_repeated = false;  ///< along an axis, to meet another of that size
};

/// A tensor of a group that meets data enters the graph there.
class Groups {
 public:
  Needs of(const Node& node, const std::vector<Needs>& sources) {
    Needs out;
    for (const Needs& source : sources) out.has_data |= source.has_data;
    out.has_data |= meets_constant_data(node, sources);
    if (const auto* view = std::get_if<ViewAttr>(&node.attr))
      out.is_repeated = sources[0].is_repeated || view->kind == ViewKind::kExpand;
    for (const Needs& source : sources) {
      if (source.group == kNone) continue;
      const bool enters = out.has_data && !source.has_data;
      if (enters) entered_.try_emplace(source.group, entered_.size() + 1);
      if (out.group == kNone || enters || when(source.group) > when(out.group))
        out.group = source.group;
      if (enters) break;
    }
    return out;
  }

 private:
  /// An input may be made of constants, as zeros are; so may a factor of a weight, which that is
  /// not repeated for.
  static bool meets_constant_data(const Node& node, const std::vector<Needs>& sources) {
    const auto any = [&](const auto& test) { return std::ranges::any_of(sources, test); };
    return any([](const Needs& source) { return source.group == kNone; }) &&
           any([&](const Needs& source) {
             return source.group != kNone && (source.is_repeated || node.op == Op::TAKE);
           });
  }

  size_t when(size_t group) const {
    const auto at = entered_.find(group);
    return at == entered_.end() ? 0 : at->second;
  }
  std::map<size_t, size_t> entered_;  ///< when, from 1
};

}  // namespace

Cost cost(const Tensor& x, const std::vector<std::vector<Tensor>>& groups) {
  TN_REQUIRE(!is_number(x), "[cost] expected a tensor, got a number");
  Builder& builder = builder_of(x);
  Graph graph;
  graph.outputs = {node_of(x)};
  graph = inline_calls(graph, builder);

  Cost out;
  out.flops.resize(groups.size() + 1);
  FlatMap<const Node*, Needs> needs;
  for (size_t i = 0; i < groups.size(); ++i)
    for (const Tensor& tensor : groups[i])
      needs.try_emplace(node_of(tensor).get(), Needs{i, false, false});
  Groups entered;
  for (const NodeRef& node : topological(graph.outputs)) {
    std::vector<Needs> sources;
    for (const NodeRef& source : node->sources) sources.push_back(needs.at(source.get()));
    Needs own = entered.of(*node, sources);
    if (node->op == Op::PARAM && !node->as<ParamAttr>().is_dim) own.has_data = true;
    own = *needs.try_emplace(node.get(), own).first;
    out.flops[own.group == kNone ? groups.size() : own.group] += flops_of(*node, elements);
  }

  const Collected collected = collect(builder, {node_of(x)});
  if (buffer_of(*node_of(x))) return out;
  RunStats stats;
  runtime_of(x.context()).run(collected.graph, collected.inputs, collected.symbols, &stats);
  out.kernels = stats.kernels;
  return out;
}

}  // namespace tenon
