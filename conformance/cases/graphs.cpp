// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grows a graph step by step and chooses its outputs.
#include "conformance/cases/graphs.hpp"

#include <algorithm>
#include <set>

#include "conformance/cases/steps.hpp"

namespace tenon::conformance {
namespace {

constexpr Step kSteps[] = {grow_unary,   grow_binary, grow_binary, grow_integer, grow_compare,
                           grow_where,   grow_cast,   grow_view,   grow_view,    grow_reduce,
                           grow_reduce,  grow_take,   grow_store,  grow_leaf,    grow_matmul,
                           grow_softmax, grow_cat};
constexpr size_t kMostNodes = 30;

/// A random subset of the steps: a bug that needs two ops together is not drowned by the others.
std::vector<Step> draw_steps(Choices& choices) {
  std::vector<Step> steps;
  const auto percent = static_cast<uint32_t>(choices.between(20, 90));
  for (const Step step : kSteps)
    if (choices.chance(percent)) steps.push_back(step);
  if (steps.empty()) steps.push_back(grow_binary);
  return steps;
}

/// Nodes of the pool that nothing reads, the youngest first; at most four, and at least one.
std::vector<NodeRef> draw_outputs(const Grower& g, Choices& choices) {
  std::set<const Node*> read;
  for (const Entry& entry : g.pool())
    for (const NodeRef& node : topological({entry.node}))
      for (const NodeRef& source : node->sources) read.insert(source.get());
  std::vector<NodeRef> outputs;
  for (size_t i = g.pool().size(); i-- > 0 && outputs.size() < 4;) {
    const NodeRef& node = g.pool()[i].node;
    const bool again = std::ranges::find(outputs, node) != outputs.end();
    if (!again && (!read.contains(node.get()) || choices.chance(5))) outputs.push_back(node);
  }
  return outputs;
}

}  // namespace

Template build_graph(Choices& choices, Builder& builder) {
  Grower grower(choices, builder);
  const std::vector<Step> steps = draw_steps(choices);
  const auto wanted = static_cast<size_t>(choices.between(2, kMostNodes - 4));
  std::vector<NodeRef> roots;
  for (int tries = 0; tries < 40; ++tries) {
    const Entry entry = choices.pick(steps)(grower);
    if (!grower.fits(entry.node->shape)) continue;
    std::vector<NodeRef> grown = roots;
    grown.push_back(entry.node);
    const size_t nodes = topological(grown).size();
    if (nodes > kMostNodes && !roots.empty()) break;
    roots = std::move(grown);
    grower.add(entry);
    if (nodes >= wanted) break;
  }
  if (grower.pool().empty()) grower.add(grow_unary(grower));
  Template out;
  out.cell = {"graph", std::string(dtype_name(grower.main_float())), "mixed"};
  finish_graph(out, draw_outputs(grower, choices), grower.params());
  return out;
}

}  // namespace tenon::conformance
