// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of IF, LOOP and CALL: types of the params and results of their bodies.
#include "core/ir/infer.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

NodeType type_of(const NodeRef& node) { return {node->dtype, node->shape}; }

std::string text(const NodeRef& node) { return type_string(*node); }

/// Throws unless the params of the graph from `first` on have the types of these values.
void check_params(std::string_view op, std::string_view which, const Graph& graph, size_t first,
                  Sources values) {
  TN_REQUIRE(graph.params.size() == first + values.size(),
             "[{}] expected {} params in its {} graph, got {}", op, first + values.size(), which,
             graph.params.size());
  for (size_t i = 0; i < values.size(); ++i)
    TN_REQUIRE(type_of(graph.params[first + i]) == type_of(values[i]),
               "[{}] expected param {} of its {} graph to be {}, got {}", op, first + i, which,
               text(values[i]), text(graph.params[first + i]));
}

void check_graph(std::string_view op, const GraphRef& graph) {
  TN_REQUIRE(graph, "[{}] expected a graph, got none", op);
  for (const NodeRef& node : graph->params)
    TN_REQUIRE(node && node->op == Op::PARAM, "[{}] expected params in its graph, got other nodes",
               op);
  for (const NodeRef& node : graph->outputs)
    TN_REQUIRE(node, "[{}] expected outputs of its graph, got none", op);
}

void check_result(std::string_view op, int result, size_t count) {
  TN_REQUIRE(result >= 0 && static_cast<size_t>(result) < count,
             "[{}] expected a result below {}, got {}", op, count, result);
}

}  // namespace

NodeType infer_if(Sources sources, const IfAttr& attr) {
  check_graph("if", attr.then_graph);
  check_graph("if", attr.else_graph);
  TN_REQUIRE(!sources.empty(), "[if] expected a condition, got no operands");
  TN_REQUIRE(type_of(sources[0]) == (NodeType{DType::kBool, {}}),
             "[if] expected a condition of type bool[], got {}", text(sources[0]));
  const Graph &then_graph = *attr.then_graph, &else_graph = *attr.else_graph;
  check_params("if", "then", then_graph, 0, sources.subspan(1));
  check_params("if", "else", else_graph, 0, sources.subspan(1));
  TN_REQUIRE(then_graph.outputs.size() == else_graph.outputs.size(),
             "[if] expected as many outputs from both graphs, got {} and {}",
             then_graph.outputs.size(), else_graph.outputs.size());
  for (size_t i = 0; i < then_graph.outputs.size(); ++i)
    TN_REQUIRE(type_of(then_graph.outputs[i]) == type_of(else_graph.outputs[i]),
               "[if] expected output {} of one type from both graphs, got {} and {}", i,
               text(then_graph.outputs[i]), text(else_graph.outputs[i]));
  check_result("if", attr.result, then_graph.outputs.size());
  return type_of(then_graph.outputs[attr.result]);
}

NodeType infer_loop(Sources sources, const LoopAttr& attr) {
  check_graph("loop", attr.body);
  const Graph& body = *attr.body;
  TN_REQUIRE(attr.carried >= 1 && sources.size() >= 1 + static_cast<size_t>(attr.carried),
             "[loop] expected a trip count and {} initial values, got {} operands", attr.carried,
             sources.size());
  const NodeType counter{DType::kI64, {}};
  TN_REQUIRE(type_of(sources[0]) == counter, "[loop] expected a trip count of type i64[], got {}",
             text(sources[0]));
  check_params("loop", "body", body, 1, sources.subspan(1));
  TN_REQUIRE(type_of(body.params[0]) == counter,
             "[loop] expected param 0 of its body graph to be i64[], got {}", text(body.params[0]));
  const size_t first = attr.is_while ? 1 : 0;
  TN_REQUIRE(body.outputs.size() == first + attr.carried,
             "[loop] expected {} outputs of its body graph, got {}", first + attr.carried,
             body.outputs.size());
  if (attr.is_while)
    TN_REQUIRE(type_of(body.outputs[0]) == (NodeType{DType::kBool, {}}),
               "[loop] expected output 0 of its body graph to be bool[], got {}",
               text(body.outputs[0]));
  for (int i = 0; i < attr.carried; ++i)
    TN_REQUIRE(type_of(body.outputs[first + i]) == type_of(sources[1 + i]),
               "[loop] expected output {} of its body graph to be {}, got {}", first + i,
               text(sources[1 + i]), text(body.outputs[first + i]));
  check_result("loop", attr.result, attr.carried);
  return type_of(sources[1 + attr.result]);
}

NodeType infer_call(Sources sources, const CallAttr& attr) {
  check_graph("call", attr.body);
  check_params("call", "body", *attr.body, 0, sources);
  check_result("call", attr.result, attr.body->outputs.size());
  if (attr.gradient) {
    TN_REQUIRE(attr.mode == CallMode::kPlain,
               "[call] expected a gradient graph or another way of differentiation, got both");
    check_graph("call", attr.gradient);
    std::vector<NodeRef> given(sources.begin(), sources.end());
    for (int pass = 0; pass < 2; ++pass)
      given.insert(given.end(), attr.body->outputs.begin(), attr.body->outputs.end());
    check_params("call", "gradient", *attr.gradient, 0, given);
    size_t next = 0;
    for (size_t i = 0; i < sources.size(); ++i) {
      if (!is_float(sources[i]->dtype)) continue;
      TN_REQUIRE(
          next < attr.gradient->outputs.size() &&
              type_of(attr.gradient->outputs[next]) == type_of(sources[i]),
          "[call] expected output {} of its gradient graph to be {}, as operand {} is, got {}",
          next, text(sources[i]), i,
          next < attr.gradient->outputs.size() ? text(attr.gradient->outputs[next]) : "none");
      ++next;
    }
    TN_REQUIRE(next == attr.gradient->outputs.size(),
               "[call] expected {} outputs of its gradient graph, one a float operand, got {}",
               next, attr.gradient->outputs.size());
  }
  return type_of(attr.body->outputs[attr.result]);
}

}  // namespace tenon
