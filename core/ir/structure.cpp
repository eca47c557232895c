// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structure of graphs without names: params and symbols are identified by position.
#include "core/ir/structure.hpp"

#include "core/ir/node_hash.hpp"
#include "core/support/flat_map.hpp"

namespace tenon {
namespace structure {

Renaming renaming_of(const Graph& graph, const Renaming& outer) {
  Renaming names = outer;
  for (const Expr& s : graph.symbols) {
    std::string place = "$" + std::to_string(names.size());
    names.try_emplace(s.name(), Expr::symbol(std::move(place), s.min(), s.max()));
  }
  return names;
}

Shape renamed(Shape shape, const Renaming& names) {
  if (names.empty()) return shape;
  for (Dim& d : shape) d = d.substitute(names);
  return shape;
}

Attr renamed(Attr attr, const Renaming& names) {
  if (auto* param = std::get_if<ParamAttr>(&attr)) {
    param->name.clear();
    param->identity = 0;
    param->owner = nullptr;
    param->dim = param->dim.substitute(names);
  } else if (auto* view = std::get_if<ViewAttr>(&attr)) {
    for (auto& [a, b] : view->pairs) {
      a = a.substitute(names);
      b = b.substitute(names);
    }
  } else if (auto* choice = std::get_if<IfAttr>(&attr)) {
    choice->then_graph = choice->else_graph = nullptr;
  } else if (auto* loop = std::get_if<LoopAttr>(&attr)) {
    loop->body = nullptr;
  } else if (auto* call = std::get_if<CallAttr>(&attr)) {
    call->body = call->gradient = nullptr;
  }
  return attr;
}

std::vector<const Graph*> graphs_of(const Attr& attr) {
  if (const auto* choice = std::get_if<IfAttr>(&attr))
    return {choice->then_graph.get(), choice->else_graph.get()};
  if (const auto* loop = std::get_if<LoopAttr>(&attr)) return {loop->body.get()};
  if (const auto* call = std::get_if<CallAttr>(&attr)) {
    if (call->gradient) return {call->body.get(), call->gradient.get()};
    return {call->body.get()};
  }
  return {};
}

namespace {

/// Numbers each node: params by position, then others in topological order.
struct Numbering {
  std::vector<NodeRef> order;
  FlatMap<const Node*, size_t> number;

  explicit Numbering(const Graph& graph) {
    for (const NodeRef& p : graph.params)
      if (number.try_emplace(p.get(), number.size()).second) order.push_back(p);
    for (const NodeRef& n : topological(graph.outputs))
      if (number.try_emplace(n.get(), number.size()).second) order.push_back(n);
  }
};

/// Whether neither shape nor attribute contains a name.
bool is_plain(const Node& node, const Renaming& names) {
  return names.empty() && !std::holds_alternative<ParamAttr>(node.attr) &&
         graphs_of(node.attr).empty();
}

}  // namespace

namespace {

/// Graphs inside each other share the table, as long as their names are the same.
uint64_t hash_inner(const Graph& graph, const Renaming& outer, SubgraphHashes* around) {
  const Renaming names = renaming_of(graph, outer);
  const Numbering numbering(graph);
  uint64_t h = hash_mix(graph.params.size(), graph.symbols.size());
  for (const Expr& s : graph.symbols) h = hash_mix(h, names.at(s.name()).hash());
  for (const NodeRef& p : graph.params) h = hash_mix(h, numbering.number.at(p.get()));
  SubgraphHashes own;
  SubgraphHashes& subgraphs = around && names.size() == outer.size() ? *around : own;
  for (const NodeRef& n : numbering.order) {
    h = hash_mix(h, hash_head(*n, names, subgraphs));
    for (const NodeRef& s : n->sources) h = hash_mix(h, numbering.number.at(s.get()));
  }
  for (const NodeRef& o : graph.outputs) h = hash_mix(h, numbering.number.at(o.get()));
  return h;
}

bool same_inner(const Graph& a, const Renaming& outer_a, const Graph& b, const Renaming& outer_b,
                SubgraphEquality* around) {
  if (a.params.size() != b.params.size() || a.outputs.size() != b.outputs.size() ||
      a.symbols.size() != b.symbols.size())
    return false;
  const Renaming names_a = renaming_of(a, outer_a), names_b = renaming_of(b, outer_b);
  for (size_t i = 0; i < a.symbols.size(); ++i)
    if (!(names_a.at(a.symbols[i].name()) == names_b.at(b.symbols[i].name()))) return false;
  const Numbering in_a(a), in_b(b);
  if (in_a.order.size() != in_b.order.size()) return false;
  const auto same_place = [&](const NodeRef& x, const NodeRef& y) {
    return in_a.number.at(x.get()) == in_b.number.at(y.get());
  };
  const auto same_places = [&](const std::vector<NodeRef>& xs, const std::vector<NodeRef>& ys) {
    return std::equal(xs.begin(), xs.end(), ys.begin(), ys.end(), same_place);
  };
  SubgraphEquality own;
  SubgraphEquality& subgraphs =
      around && names_a.size() == outer_a.size() && names_b.size() == outer_b.size() ? *around
                                                                                     : own;
  for (size_t i = 0; i < in_a.order.size(); ++i) {
    const Node &x = *in_a.order[i], &y = *in_b.order[i];
    if (!same_head(x, names_a, y, names_b, subgraphs) || !same_places(x.sources, y.sources))
      return false;
  }
  return same_places(a.params, b.params) && same_places(a.outputs, b.outputs);
}

}  // namespace

uint64_t hash_head(const Node& node, const Renaming& names, SubgraphHashes& subgraphs) {
  if (is_plain(node, names)) return hash_alone(node);
  Node plain;
  plain.op = node.op;
  plain.dtype = node.dtype;
  plain.shape = renamed(node.shape, names);
  const auto graphs = graphs_of(node.attr);
  if (graphs.empty()) plain.attr = renamed(node.attr, names);
  uint64_t h = hash_alone(plain);
  for (const Graph* g : graphs) {
    const uint64_t* known = subgraphs.find(g);
    const uint64_t inner = known ? *known : hash_inner(*g, names, &subgraphs);
    if (!known) subgraphs.try_emplace(g, inner);
    h = hash_mix(h, inner);
  }
  if (const auto* choice = std::get_if<IfAttr>(&node.attr)) h = hash_mix(h, choice->result);
  if (const auto* loop = std::get_if<LoopAttr>(&node.attr))
    h = hash_mix(hash_mix(hash_mix(h, loop->carried), loop->is_while), loop->result);
  if (const auto* call = std::get_if<CallAttr>(&node.attr))
    h = hash_mix(hash_mix(h, static_cast<uint64_t>(call->mode)), call->result);
  return h;
}

bool same_head(const Node& a, const Renaming& names_a, const Node& b, const Renaming& names_b,
               SubgraphEquality& subgraphs) {
  if (a.op != b.op || a.dtype != b.dtype || a.attr.index() != b.attr.index()) return false;
  if (is_plain(a, names_a) && is_plain(b, names_b)) return a.shape == b.shape && a.attr == b.attr;
  if (renamed(a.shape, names_a) != renamed(b.shape, names_b) ||
      !(renamed(a.attr, names_a) == renamed(b.attr, names_b)))
    return false;
  const auto graphs_a = graphs_of(a.attr), graphs_b = graphs_of(b.attr);
  if (graphs_a.size() != graphs_b.size()) return false;
  for (size_t g = 0; g < graphs_a.size(); ++g) {
    const auto [known, is_new] = subgraphs.try_emplace({graphs_a[g], graphs_b[g]});
    if (is_new)
      known->second = same_inner(*graphs_a[g], names_a, *graphs_b[g], names_b, &subgraphs);
    if (!known->second) return false;
  }
  return true;
}

uint64_t hash_graph(const Graph& graph, const Renaming& outer) {
  return hash_inner(graph, outer, nullptr);
}

bool same_graph(const Graph& a, const Renaming& outer_a, const Graph& b, const Renaming& outer_b) {
  return same_inner(a, outer_a, b, outer_b, nullptr);
}

}  // namespace structure

uint64_t structure_hash(const Graph& graph) { return structure::hash_graph(graph, {}); }

bool same_structure(const Graph& a, const Graph& b) { return structure::same_graph(a, {}, b, {}); }

}  // namespace tenon
