// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The verifier against graphs that no Builder would make.
#include "core/ir/verify.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/ir/build.hpp"
#include "core/ir/capabilities.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

struct VerifyFixture {
  Builder b;
  Expr n = Expr::symbol("n", 1, 64);
  NodeRef x = b.param("x", DType::kF32, {n, 4});
  NodeRef y = b.unary(Op::NEG, x);
  Graph graph;

  VerifyFixture() {
    graph.symbols = {n};
    graph.params = {x};
    graph.outputs = {y};
    graph.output_names = {"y"};
  }

  void expect(const char* text) const {
    CHECK_THROWS_MATCHES(verify(graph), Error, MessageMatches(ContainsSubstring(text)));
  }

  /// y with a part changed behind the Builder's back.
  template <class F>
  void forge(F&& change) {
    Node node = *y;
    change(node);
    graph.outputs = {std::make_shared<const Node>(node)};
  }
};

TEST_CASE_METHOD(VerifyFixture, "a sound graph passes") { CHECK_NOTHROW(verify(graph)); }

TEST_CASE_METHOD(VerifyFixture, "the node that breaks a rule is named") {
  forge([](Node& n) { n.dtype = DType::kF64; });
  expect("[neg] node 1: expected type f32[n, 4], got f64[n, 4]");
  forge([](Node& n) { n.shape = {4}; });
  expect("[neg] node 1: expected type f32[n, 4], got f32[4]");
  forge([](Node& n) { n.sources.clear(); });
  expect("[neg] node 1: expected 1 operands, got 0");
  forge([](Node& n) { n.sources = {nullptr}; });
  expect("[neg] node 1: expected an operand, got none");
  forge([](Node& n) {
    n.op = Op::AND;
    n.sources.push_back(n.sources[0]);
  });
  expect("[and] node 1: expected an integer dtype or bool");
  forge([](Node& n) { n.attr = TakeAttr{}; });
  expect("[neg] node 1: expected its own kind of attribute");
  forge([](Node& n) { n.hash ^= 1; });
  expect("[neg] node 1: expected the hash of its structure");
  forge([](Node& n) { n.op = Op::BARRIER; });
  expect("[barrier] node 1: expected an op of graphs");
}

TEST_CASE_METHOD(VerifyFixture, "inputs, outputs and names") {
  graph.params.clear();
  expect("[param] node 0: expected a param of the graph, got \"x\"");
  graph.params = {x, x};
  expect("[graph] expected each param once");
  graph.params = {y};
  expect("[graph] expected params as its inputs, got neg");
  graph.params = {b.dim(n)};
  expect("[graph] expected params as its inputs, got dim");
  graph.params = {x};
  graph.outputs = {nullptr};
  expect("[graph] expected outputs, got none");
  graph.outputs = {y, y};
  expect("[graph] expected 2 output names, got 1");
}

TEST_CASE_METHOD(VerifyFixture, "symbols") {
  graph.symbols = {};
  expect("node 0: expected symbols of the graph, got n");
  graph.symbols = {Expr::symbol("n", 1, 65)};
  expect("expected n within [1, 65] as the graph says, got [1, 64]");
  graph.symbols = {n, n};
  expect("[graph] expected each symbol once");
  graph.symbols = {n * 2};
  expect("[graph] expected symbols, got n*2");
  graph.symbols = {n, Expr::symbol("odd name", 1, 2)};
  expect("[graph] expected a symbol name");
}

TEST_CASE_METHOD(VerifyFixture, "graphs inside are verified too") {
  Graph inner;
  inner.params = {b.param("v", DType::kF32, {n, 4})};
  inner.outputs = {x};
  const auto bad = std::make_shared<const Graph>(inner);
  inner.outputs = inner.params;
  const auto good = std::make_shared<const Graph>(inner);
  const NodeRef c = b.param("c", DType::kBool, {});
  graph.params = {x, c};
  graph.outputs = {b.if_(c, {x}, good, good, 0)};
  CHECK_NOTHROW(verify(graph));
  graph.outputs = {b.if_(c, {x}, good, bad, 0)};
  expect("expected a param of the graph, got \"x\"");
  inner.symbols = {Expr::symbol("n", 2, 64)};
  graph.outputs = {b.if_(c, {x}, good, std::make_shared<const Graph>(inner), 0)};
  expect("expected n within [1, 64] as in the graph around");
}

TEST_CASE("capabilities are told apart by their hash") {
  const Capabilities generic = generic_capabilities();
  CHECK(generic.hash() == generic_capabilities().hash());
  CHECK(generic.has(Op::FMA));
  CHECK_FALSE(generic.has(Op::INTRINSIC));
  CHECK(generic.of(DType::kBF16).arithmetic);
  Capabilities other = generic;
  other.l3_bytes = 1;
  CHECK(other.hash() != generic.hash());
  other = generic;
  other.dtypes[static_cast<size_t>(DType::kF64)].arithmetic = false;
  CHECK(other.hash() != generic.hash());
  CHECK_FALSE(Capabilities().has(Op::FMA));
}

}  // namespace
}  // namespace tenon
