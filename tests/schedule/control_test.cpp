// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IF and LOOP become calls of their own schedules.
#include <catch2/catch_test_macros.hpp>

#include "tests/schedule/execute.hpp"
#include "tests/schedule/models.hpp"

namespace tenon::test {
namespace {

GraphRef shared(Graph graph) { return std::make_shared<const Graph>(std::move(graph)); }

TEST_CASE("an if over both of its results is one call") {
  Models m;
  const NodeRef a = m.param("a", {4}), b = m.param("b", {4});
  Graph then_graph = m.graph("then", {m.exp(a), m.add(a, b)});
  Graph else_graph = m.graph("else", {b, m.mul(a, b)});
  then_graph.params = else_graph.params = {a, b};
  const GraphRef yes = shared(then_graph), no = shared(else_graph);
  const NodeRef x = m.param("x", {4}), y = m.param("y", {4});
  const NodeRef peak = m.builder.reduce(Op::MAX, x, {0});
  const NodeRef condition = m.builder.binary(Op::CMPLT, m.builder.reshape(peak, {}),
                                             m.builder.reshape(m.param("limit", {1}), {}));
  const NodeRef first = m.builder.if_(condition, {x, m.exp(y)}, yes, no, 0);
  const NodeRef second = m.builder.if_(condition, {x, m.exp(y)}, yes, no, 1);
  const Graph g = m.graph("g", {m.add(first, second)});
  const Schedule s = schedule(g, on_one_device(), m.builder);
  int calls = 0;
  for (const Step& step : s.steps) calls += std::holds_alternative<IfCall>(step.call);
  REQUIRE(calls == 1);
  for (uint32_t seed = 0; seed < 6; ++seed) require_same(g, s, seed);
}

TEST_CASE("a loop carries its values; a while loop ends early") {
  Models m;
  const NodeRef i = m.builder.param("i", DType::kI64, {});
  const NodeRef a = m.param("a", {4}), b = m.param("b", {4}), c = m.param("c", {4});
  for (const bool is_while : {false, true}) {
    std::vector<NodeRef> results{m.add(b, c), m.add(a, m.scaled(b, 0.5))};
    if (is_while)
      results.insert(
          results.begin(),
          m.builder.binary(Op::CMPLT, i, m.builder.constant(Scalar::of_int(DType::kI64, 3))));
    Graph body = m.graph("body", results);
    body.params = {i, a, b, c};
    const GraphRef shared_body = shared(body);
    const NodeRef x = m.param("x", {4}), y = m.param("y", {4});
    const NodeRef trips = m.builder.constant(Scalar::of_int(DType::kI64, 5));
    const auto loop = [&](int result) {
      return m.builder.loop(trips, {m.exp(x), y}, {m.add(x, y)}, shared_body, is_while, result);
    };
    const Graph g = m.graph("g", {m.add(loop(0), loop(1)), loop(1)});
    const Schedule s = schedule(g, on_one_device(), m.builder);
    int calls = 0;
    for (const Step& step : s.steps) calls += std::holds_alternative<LoopCall>(step.call);
    REQUIRE(calls == 1);
    require_same(g, s, 5);
  }
}

TEST_CASE("regions end on the device of their call") {
  Models m;
  const NodeRef a = m.param("a", {4}), b = m.param("b", {4});
  Graph then_graph = m.graph("then", {m.exp(b)}), else_graph = m.graph("else", {a});
  then_graph.params = else_graph.params = {a, b};
  const NodeRef condition = m.builder.param("c", DType::kBool, {});
  const NodeRef x = m.param("x", {4}), y = m.param("y", {4});
  const Graph g = m.graph(
      "g", {m.exp(m.builder.if_(condition, {x, y}, shared(then_graph), shared(else_graph), 0))});
  ScheduleOptions options = on_one_device();
  options.devices.push_back({"null:0", generic_capabilities()});
  for (const NodeRef& p : g.params)
    options.input_places.push_back(p->as<ParamAttr>().name == "y" ? 1 : 0);
  const Schedule s = schedule(g, options, m.builder);
  for (const Step& step : s.steps) {
    const auto* call = std::get_if<IfCall>(&step.call);
    if (!call) continue;
    for (const auto& region : {call->then_schedule, call->else_schedule})
      REQUIRE(region->buffers[region->outputs[0]].device == s.buffers[call->outputs[0]].device);
  }
  for (uint32_t seed = 0; seed < 4; ++seed) require_same(g, s, seed);
}

}  // namespace
}  // namespace tenon::test
