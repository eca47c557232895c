// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/substitute.hpp"

#include <algorithm>
#include <map>

#include "core/ir/remap.hpp"
#include "core/ir/structure.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// Size of a graph after its calls are inlined.
struct Expansion {
  bool has_call = false;
  size_t nodes = 0;  ///< saturated
};

class Expansions {
 public:
  const Expansion& of(const Graph& graph) {
    const auto known = known_.find(&graph);
    if (known != known_.end()) return known->second;
    Expansion out;
    for (const NodeRef& node : topological(graph.outputs)) {
      out.nodes += 1;
      out.has_call |= node->op == Op::CALL;
      if (const auto* call = std::get_if<CallAttr>(&node->attr)) {
        out.nodes += of(*call->body).nodes;
      } else {
        for (const Graph* inner : structure::graphs_of(node->attr)) {
          out.nodes += of(*inner).nodes;
          out.has_call |= of(*inner).has_call;
        }
      }
      out.nodes = std::min(out.nodes, 2 * kMaxNodes);
    }
    return known_.emplace(&graph, out).first->second;
  }

 private:
  std::map<const Graph*, Expansion> known_;
};

class Inliner {
 public:
  Inliner(Builder& builder, Expansions& expansions) : builder_(builder), expansions_(expansions) {}

  Graph run(const Graph& graph) {
    Graph out = graph;
    out.outputs = outputs(graph, graph.params);
    return out;
  }

 private:
  /// Identifies a CALL without its result number: all results share one copy of the body.
  struct Place {
    const Graph* body;
    std::vector<const Node*> inputs;
    auto operator<=>(const Place&) const = default;
  };

  std::vector<NodeRef> outputs(const Graph& graph, std::span<const NodeRef> inputs) {
    Remapped made;
    std::map<Place, std::vector<NodeRef>> calls;
    for (size_t i = 0; i < inputs.size(); ++i) made.try_emplace(graph.params[i].get(), inputs[i]);
    return remap(graph.outputs, builder_, std::move(made),
                 [&](const NodeRef& node, const std::vector<NodeRef>& sources) {
                   return remade(node, sources, calls);
                 });
  }

  NodeRef remade(const NodeRef& node, const std::vector<NodeRef>& sources,
                 std::map<Place, std::vector<NodeRef>>& calls) {
    if (const auto* call = std::get_if<CallAttr>(&node->attr)) {
      Place place{call->body.get(), {}};
      for (const NodeRef& source : sources) place.inputs.push_back(source.get());
      auto [at, is_new] = calls.try_emplace(std::move(place));
      if (is_new) at->second = outputs(*call->body, sources);
      return at->second[static_cast<size_t>(call->result)];
    }
    Attr attr = node->attr;
    if (auto* choice = std::get_if<IfAttr>(&attr)) {
      choice->then_graph = region(choice->then_graph);
      choice->else_graph = region(choice->else_graph);
    } else if (auto* loop = std::get_if<LoopAttr>(&attr)) {
      loop->body = region(loop->body);
    }
    if (attr == node->attr) return nullptr;
    return builder_.make(node->op, node->dtype, node->shape, sources, std::move(attr));
  }

  /// Cached by graph, so that the results of one loop still share it.
  GraphRef region(const GraphRef& graph) {
    auto [at, is_new] = regions_.try_emplace(graph.get(), graph);
    if (is_new && expansions_.of(*graph).has_call)
      at->second = std::make_shared<const Graph>(run(*graph));
    return at->second;
  }

  Builder& builder_;
  Expansions& expansions_;
  std::map<const Graph*, GraphRef> regions_;
};

}  // namespace

std::vector<NodeRef> substitute(const std::vector<NodeRef>& of, const Remapped& replaced,
                                Builder& builder) {
  return remap(of, builder, replaced, [](const auto&, const auto&) { return NodeRef(); });
}

std::vector<NodeRef> apply(const Graph& graph, std::span<const NodeRef> inputs, Builder& builder) {
  TN_REQUIRE(inputs.size() == graph.params.size(), "[{}] expected {} inputs, got {}", graph.name,
             graph.params.size(), inputs.size());
  FlatMap<const Node*, NodeRef> replaced;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TN_REQUIRE(
        inputs[i]->dtype == graph.params[i]->dtype && inputs[i]->shape == graph.params[i]->shape,
        "[{}] expected input {} to be {}, got {}", graph.name, i, type_string(*graph.params[i]),
        type_string(*inputs[i]));
    replaced.try_emplace(graph.params[i].get(), inputs[i]);
  }
  return substitute(graph.outputs, replaced, builder);
}

NodeRef fresh_param(Builder& builder, std::string name, const Node& like, DType dtype,
                    Graph& graph) {
  constexpr uint64_t kOwn = 0x61646a6f696e7400;
  graph.params.push_back(
      builder.param(std::move(name), dtype, like.shape, kOwn + graph.params.size()));
  return graph.params.back();
}

bool has_calls(const Graph& graph) { return Expansions().of(graph).has_call; }

void check_expansion(const Graph& graph) {
  TN_REQUIRE(Expansions().of(graph).nodes <= kMaxNodes,
             "[call] expected at most {} values in a graph whose calls are inlined, got more",
             kMaxNodes);
}

Graph inline_calls(const Graph& graph, Builder& builder) {
  Expansions expansions;
  if (!expansions.of(graph).has_call) return graph;
  check_expansion(graph);
  return Inliner(builder, expansions).run(graph);
}

}  // namespace tenon
