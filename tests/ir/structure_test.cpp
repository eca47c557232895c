// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks of very deep graphs, and structure blind to names.
#include <catch2/catch_test_macros.hpp>

#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"

namespace tenon {
namespace {

TEST_CASE("a chain of a million nodes is built, walked, hashed and freed") {
  constexpr int kLength = 1'000'000;
  Builder b;
  const NodeRef x = b.param("x", DType::kF32, {});
  Graph graph;
  graph.params = {x};
  graph.outputs = {x};
  for (int i = 0; i < kLength; ++i) graph.outputs[0] = b.unary(Op::NEG, graph.outputs[0]);
  const std::vector<NodeRef> order = topological(graph.outputs);
  REQUIRE(order.size() == kLength + 1);
  CHECK(order.front() == x);
  CHECK(order.back() == graph.outputs[0]);
  CHECK(structure_hash(graph) != 0);
  CHECK(same_structure(graph, graph));
}

TEST_CASE("operands come first, once each, in a fixed order") {
  Builder b;
  const NodeRef x = b.param("x", DType::kF32, {}), y = b.param("y", DType::kF32, {});
  const NodeRef s = b.binary(Op::ADD, x, y), p = b.binary(Op::MUL, s, x);
  CHECK(topological({p, s}) == std::vector<NodeRef>{x, y, s, p});
}

bool same(std::string_view a, std::string_view b) {
  Builder first, second;
  const Graph x = parse_graph(a, first), y = parse_graph(b, second);
  const bool result = same_structure(x, y);
  CHECK((structure_hash(x) == structure_hash(y)) == result);
  return result;
}

TEST_CASE("structure is blind to names but not to order and types") {
  const char* base =
      "graph g(%a: f32[n], %b: f32[n]) where 1 <= n <= 9 {%c = sub %a, %b\nreturn %c}";
  CHECK(
      same(base, "graph h(%x: f32[k], %y: f32[k]) where 1 <= k <= 9 {%z = sub %x, %y return %z}"));
  CHECK_FALSE(same(base,
                   "graph g(%a: f32[n], %b: f32[n]) where 1 <= n <= 9 {%c = sub %b, %a "
                   "return %c}"));
  CHECK_FALSE(same(base,
                   "graph g(%a: f32[n], %b: f32[n]) where 1 <= n <= 8 {%c = sub %a, %b "
                   "return %c}"));
  CHECK_FALSE(same(base,
                   "graph g(%a: f16[n], %b: f16[n]) where 1 <= n <= 9 {%c = sub %a, %b "
                   "return %c}"));
  CHECK_FALSE(same(base,
                   "graph g(%a: f32[n], %b: f32[n]) where 1 <= n <= 9 {%c = sub %a, %b "
                   "return %c, %c}"));
  const char* two = "graph g(%a: f32[n, m]) where 1 <= n <= 9, 1 <= m <= 9 {return %a}";
  CHECK(same(two, "graph g(%a: f32[m, n]) where 1 <= m <= 9, 1 <= n <= 9 {return %a}"));
  CHECK_FALSE(same(two, "graph g(%a: f32[m, n]) where 1 <= n <= 9, 1 <= m <= 9 {return %a}"));
  // Sums are sorted by name; renaming must not change them.
  CHECK(same("graph g(%a: f32[2*a + b]) where 1 <= a <= 9, 1 <= b <= 9 {return %a}",
             "graph g(%a: f32[z*2 + y]) where 1 <= z <= 9, 1 <= y <= 9 {return %a}"));
}

TEST_CASE("structure looks into the graphs of control flow") {
  const auto text = [](const char* op, const char* capture) {
    return std::string(
               "graph g(%c: bool[], %x: f32[4], %y: f32[4]) {\n  graph t(%v: f32[4]) {%r = ") +
           op + " %v return %r}\n  graph e(%v: f32[4]) {return %v}\n  %r = if %c, " + capture +
           ", then=t, else=e\n  return %r\n}";
  };
  CHECK(same(text("neg", "%x"), text("neg", "%x")));
  CHECK_FALSE(same(text("neg", "%x"), text("sqrt", "%x")));
  CHECK_FALSE(same(text("neg", "%x"), text("neg", "%y")));
}

}  // namespace
}  // namespace tenon
