// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/autodiff/lift_leaves.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "core/ir/substitute.hpp"
#include "core/support/error.hpp"

namespace tenon::autodiff {
namespace {

/// The graphs of a region, and which of its sources are the same value in every run of them.
struct Bodies {
  explicit Bodies(const Node& node) {
    if (const auto* choice = std::get_if<IfAttr>(&node.attr)) {
      graphs = {choice->then_graph, choice->else_graph};
      params_from = 1;
    } else if (const auto* loop = std::get_if<LoopAttr>(&node.attr)) {
      graphs = {loop->body};
      fixed_from = 1 + static_cast<size_t>(loop->carried);
    } else if (const auto* call = std::get_if<CallAttr>(&node.attr)) {
      if (call->mode != CallMode::kStop) graphs = {call->body};
    }
  }
  std::vector<GraphRef> graphs;
  size_t params_from = 0;  ///< the source that the first param is
  size_t fixed_from = 0;   ///< the first param that does not change between runs
};

class Lifting {
 public:
  explicit Lifting(Builder& builder) : builder_(builder) {}

  /// Leaves may be null.
  Lifted run(const std::vector<NodeRef>& outputs, const std::vector<NodeRef>& leaves) {
    std::vector<NodeRef> all = outputs;
    for (const NodeRef& leaf : leaves)
      if (leaf) all.push_back(leaf);
    const std::vector<NodeRef> order = topological(all);
    if (std::ranges::all_of(order,
                            [](const NodeRef& node) { return Bodies(*node).graphs.empty(); }))
      return {outputs, leaves};
    Remapped done;
    lift_into(order, leaves, done);
    const auto mapped = [&](const std::vector<NodeRef>& nodes) {
      std::vector<NodeRef> out;
      for (const NodeRef& node : nodes) out.push_back(node ? done.at(node.get()) : nullptr);
      return out;
    };
    return {mapped(outputs), mapped(leaves)};
  }

 private:
  /// A region's graphs with further params, and the places of the leaves that these are.
  struct Region {
    std::vector<GraphRef> graphs;
    std::vector<size_t> captured;
  };
  using Key = std::pair<std::vector<const Graph*>, std::vector<const Node*>>;

  void lift_into(std::span<const NodeRef> order, const std::vector<NodeRef>& leaves,
                 Remapped& done) {
    remap_into(order, builder_, done,
               [&](const NodeRef& node, const std::vector<NodeRef>& sources) {
                 return lifted(node, sources, leaves, done);
               });
  }

  NodeRef lifted(const NodeRef& node, const std::vector<NodeRef>& sources,
                 const std::vector<NodeRef>& leaves, Remapped& done) {
    const Bodies bodies(*node);
    if (bodies.graphs.empty()) return nullptr;
    const Region& region = region_of(*node, bodies, leaves);
    if (region.graphs == bodies.graphs) return nullptr;
    std::vector<NodeRef> given = sources;
    for (const size_t leaf : region.captured) {
      lift_into(topological({leaves[leaf]}), leaves, done);
      given.push_back(done.at(leaves[leaf].get()));
    }
    Attr attr = node->attr;
    if (auto* choice = std::get_if<IfAttr>(&attr)) {
      choice->then_graph = region.graphs[0];
      choice->else_graph = region.graphs[1];
    } else if (auto* loop = std::get_if<LoopAttr>(&attr)) {
      loop->body = region.graphs[0];
    } else {
      auto& call = std::get<CallAttr>(attr);
      TN_REQUIRE(!call.gradient,
                 "[{}] expected a function with a gradient of its own that uses its arguments "
                 "alone, got one that uses {} too, by which is differentiated",
                 call.body->name, type_string(*leaves[region.captured.at(0)]));
      call.body = region.graphs[0];
    }
    return builder_.make(node->op, node->dtype, node->shape, std::move(given), std::move(attr));
  }

  const Region& region_of(const Node& node, const Bodies& bodies,
                          const std::vector<NodeRef>& leaves) {
    Key key;
    std::vector<std::vector<NodeRef>> images;
    for (const GraphRef& graph : bodies.graphs) {
      key.first.push_back(graph.get());
      images.emplace_back();
      for (const NodeRef& leaf : leaves) {
        images.back().push_back(image_of(leaf, node, bodies, *graph));
        key.second.push_back(images.back().back().get());
      }
    }
    std::unique_ptr<Region>& known = regions_[std::move(key)];
    if (!known) {
      alive_.insert(alive_.end(), images.begin(), images.end());
      known = std::make_unique<Region>(captured(bodies, images, leaves));
    }
    return *known;
  }

  /// The nodes of a graph, and the graphs within it.
  struct Contents {
    FlatMap<const Node*, char> nodes;
    std::vector<const Graph*> graphs;
  };

  /// Whether the graph or one within it has the node.
  bool contains(const Graph& graph, const Node& node) {
    std::vector<const Graph*> left{&graph};
    FlatMap<const Graph*, char> seen;
    while (!left.empty()) {
      const Graph* const next = left.back();
      left.pop_back();
      if (!seen.try_emplace(next).second) continue;
      const Contents& contents = contents_of(*next);
      if (contents.nodes.contains(&node)) return true;
      left.insert(left.end(), contents.graphs.begin(), contents.graphs.end());
    }
    return false;
  }

  const Contents& contents_of(const Graph& graph) {
    std::unique_ptr<Contents>& known = contents_[&graph];
    if (known) return *known;
    known = std::make_unique<Contents>();
    for (const NodeRef& node : topological(graph.outputs)) {
      known->nodes.try_emplace(node.get());
      for (const GraphRef& inner : Bodies(*node).graphs) known->graphs.push_back(inner.get());
    }
    return *known;
  }

  /// Made of no param. Only then the same node is the same value in all graphs, whose params are
  /// their own.
  bool is_closed(const NodeRef& leaf) {
    const auto [known, is_new] = closed_.try_emplace(leaf.get());
    if (is_new) {
      alive_.push_back({leaf});
      *known = std::ranges::none_of(topological({leaf}), [](const NodeRef& node) {
        return node->op == Op::PARAM && !node->as<ParamAttr>().is_dim;
      });
    }
    return *known;
  }

  /// The leaf as a node of a body: itself, or the same view of the param that is its source. Null
  /// where the body has no such node.
  NodeRef image_of(const NodeRef& leaf, const Node& node, const Bodies& bodies,
                   const Graph& graph) {
    if (!leaf) return nullptr;
    if (is_closed(leaf)) return contains(graph, *leaf) ? leaf : nullptr;
    Remapped params;
    for (size_t i = bodies.fixed_from; i < graph.params.size(); ++i)
      params.try_emplace(node.sources[bodies.params_from + i].get(), graph.params[i]);
    NodeRef source = leaf;
    while (source->op == Op::VIEW && !params.contains(source.get())) source = source->sources[0];
    if (source == leaf || !params.contains(source.get())) return nullptr;
    return substitute({leaf}, params, builder_)[0];
  }

  Region captured(const Bodies& bodies, const std::vector<std::vector<NodeRef>>& images,
                  const std::vector<NodeRef>& leaves) {
    std::vector<Lifted> inner;
    std::vector<bool> is_used(leaves.size());
    for (size_t g = 0; g < bodies.graphs.size(); ++g) {
      inner.push_back(run(bodies.graphs[g]->outputs, images[g]));
      FlatMap<const Node*, char> within;
      for (const NodeRef& node : topological(inner[g].outputs)) within.try_emplace(node.get());
      for (size_t i = 0; i < leaves.size(); ++i)
        if (inner[g].leaves[i] && within.contains(inner[g].leaves[i].get())) is_used[i] = true;
    }
    Region out{bodies.graphs, {}};
    for (size_t i = 0; i < leaves.size(); ++i)
      if (is_used[i]) out.captured.push_back(i);
    if (out.captured.empty()) return out;
    for (size_t g = 0; g < bodies.graphs.size(); ++g) {
      Graph body = *bodies.graphs[g];
      Remapped replaced;
      for (const size_t i : out.captured) {
        NodeRef param = fresh_param(builder_, "w" + std::to_string(body.params.size()), *leaves[i],
                                    leaves[i]->dtype, body);
        if (inner[g].leaves[i]) replaced.try_emplace(inner[g].leaves[i].get(), std::move(param));
      }
      body.outputs = substitute(inner[g].outputs, replaced, builder_);
      out.graphs[g] = std::make_shared<const Graph>(std::move(body));
    }
    return out;
  }

  Builder& builder_;
  std::map<Key, std::unique_ptr<Region>> regions_;
  std::vector<std::vector<NodeRef>> alive_;  ///< the nodes of keys
  std::map<const Graph*, std::unique_ptr<Contents>> contents_;
  FlatMap<const Node*, bool> closed_;
};

}  // namespace

Lifted lift_leaves(const std::vector<NodeRef>& outputs, const std::vector<NodeRef>& leaves,
                   Builder& builder) {
  return Lifting(builder).run(outputs, leaves);
}

}  // namespace tenon::autodiff
