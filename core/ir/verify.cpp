// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/verify.hpp"

#include <map>
#include <set>
#include <unordered_set>

#include "core/ir/infer.hpp"
#include "core/ir/node_hash.hpp"
#include "core/ir/substitute.hpp"
#include "core/ir/text/cursor.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

using Symbols = std::map<std::string, Expr>;

void check_symbols(const Graph& graph, Symbols& symbols) {
  std::set<std::string> own;
  for (const Expr& s : graph.symbols) {
    TN_REQUIRE(s.kind() == ExprKind::kSymbol, "[graph] expected symbols, got {}", to_string(s));
    TN_REQUIRE(is_symbol_name(s.name()), "[graph] expected a symbol name like n or size_2, got {}",
               sdk::quote(s.name()));
    TN_REQUIRE(own.insert(s.name()).second, "[graph] expected each symbol once, got {} twice",
               s.name());
    const Expr& known = symbols.emplace(s.name(), s).first->second;
    TN_REQUIRE(known == s,
               "[graph] expected {} within [{}, {}] as in the graph around, got [{}, {}]", s.name(),
               known.min(), known.max(), s.min(), s.max());
  }
}

void check_expr(const Expr& e, const Symbols& symbols) {
  if (e.is_const()) return;
  Symbols used;
  e.collect_symbols(used);
  for (const auto& [name, symbol] : used) {
    const auto at = symbols.find(name);
    TN_REQUIRE(at != symbols.end(), "[graph] expected symbols of the graph, got {}", name);
    TN_REQUIRE(at->second == symbol,
               "[graph] expected {} within [{}, {}] as the graph says, got [{}, {}]", name,
               at->second.min(), at->second.max(), symbol.min(), symbol.max());
  }
}

void check_exprs(const Node& node, const Symbols& symbols) {
  for (const Dim& d : node.shape) check_expr(d, symbols);
  if (const auto* param = std::get_if<ParamAttr>(&node.attr)) check_expr(param->dim, symbols);
  if (const auto* view = std::get_if<ViewAttr>(&node.attr)) {
    for (const auto& [a, b] : view->pairs) {
      check_expr(a, symbols);
      check_expr(b, symbols);
    }
  }
}

class Verifier {
 public:
  void graph(const Graph& graph, Symbols symbols, int depth) {
    TN_REQUIRE(depth <= kMaxGraphDepth,
               "[graph] expected at most {} graphs in each other, got more", kMaxGraphDepth);
    TN_REQUIRE(graph.name.size() <= kMaxName, "[graph] expected a name of at most {} bytes, got {}",
               kMaxName, graph.name.size());
    check_symbols(graph, symbols);
    std::unordered_set<const Node*> params;
    for (const NodeRef& p : graph.params) {
      TN_REQUIRE(p && p->op == Op::PARAM && std::holds_alternative<ParamAttr>(p->attr) &&
                     !p->as<ParamAttr>().is_dim,
                 "[graph] expected params as its inputs, got {}",
                 !p ? "none" : (p->op == Op::PARAM ? "dim" : op_info(p->op).text));
      TN_REQUIRE(params.insert(p.get()).second, "[graph] expected each param once, got {} twice",
                 sdk::quote(p->as<ParamAttr>().name));
    }
    for (const NodeRef& o : graph.outputs) TN_REQUIRE(o, "[graph] expected outputs, got none");
    TN_REQUIRE(graph.output_names.empty() || graph.output_names.size() == graph.outputs.size(),
               "[graph] expected {} output names, got {}", graph.outputs.size(),
               graph.output_names.size());
    for (const std::string& name : graph.output_names)
      TN_REQUIRE(name.size() <= kMaxName, "[graph] expected a name of at most {} bytes, got {}",
                 kMaxName, name.size());
    std::vector<NodeRef> roots = graph.params;
    roots.insert(roots.end(), graph.outputs.begin(), graph.outputs.end());
    size_t number = 0;
    for (const NodeRef& n : topological(roots)) {
      in_node(*n, number++, [&] {
        node(*n, params);
        check_exprs(*n, symbols);
      });
      if (const auto* choice = std::get_if<IfAttr>(&n->attr)) {
        inner(choice->then_graph, symbols, depth);
        inner(choice->else_graph, symbols, depth);
      } else if (const auto* loop = std::get_if<LoopAttr>(&n->attr)) {
        inner(loop->body, symbols, depth);
      } else if (const auto* call = std::get_if<CallAttr>(&n->attr)) {
        inner(call->body, symbols, depth);
        if (call->gradient) inner(call->gradient, symbols, depth);
      }
    }
  }

 private:
  /// Adds the number of the node after the "[op]" of a message.
  template <class Check>
  void in_node(const Node& node, size_t number, Check&& check) {
    try {
      check();
    } catch (const Error& error) {
      const std::string_view message = error.what();
      const size_t end = message.find("] ");
      const std::string_view rest =
          end == std::string_view::npos ? message : message.substr(end + 2);
      fail(error.kind(), "[{}] node {}: {}", op_info(node.op).text, number, rest);
    }
  }

  void node(const Node& node, const std::unordered_set<const Node*>& params) {
    Attr attr = node.attr;
    const NodeType given{node.dtype, node.shape};
    const NodeType type = infer(node.op, given, node.sources, attr);
    TN_REQUIRE(type == given, "[node] expected type {}, got {}",
               type_string(type.dtype, type.shape), type_string(node));
    TN_REQUIRE(attr == node.attr, "[reduce] expected an accumulator, got none");
    TN_REQUIRE(node.hash == hash_node(node),
               "[node] expected the hash of its structure, got another");
    if (node.op == Op::PARAM && !node.as<ParamAttr>().is_dim)
      TN_REQUIRE(params.contains(&node), "[param] expected a param of the graph, got {}",
                 sdk::quote(node.as<ParamAttr>().name));
  }

  void inner(const GraphRef& graph, const Symbols& symbols, int depth) {
    if (seen_.insert(graph.get()).second) this->graph(*graph, symbols, depth + 1);
  }

  std::set<const Graph*> seen_;
};

}  // namespace

void verify(const Graph& graph) {
  Verifier().graph(graph, {}, 1);
  check_expansion(graph);
}

}  // namespace tenon
