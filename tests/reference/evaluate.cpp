// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole nodes and graphs, against values worked out by hand.
#include "core/ir/build.hpp"
#include "core/ir/text/text.hpp"
#include "core/reference/reference.hpp"
#include "core/support/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tenon;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

Array array(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  Array out = Array::zeros(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i)
    out.set(static_cast<int64_t>(i), Scalar::of(dtype, values[i]));
  return out;
}

std::vector<double> values(const Array& a) {
  std::vector<double> out;
  for (int64_t i = 0; i < a.count(); ++i) out.push_back(a.at(i).as_double());
  return out;
}

using V = std::vector<double>;

/// One output of a graph in text on one f32 input.
V run(const std::string& body, const Array& x) {
  Builder b;
  const Graph g = parse_graph(body, b);
  return values(evaluate(g, {x})[0]);
}

Graph one_output(const std::vector<NodeRef>& params, const NodeRef& output) {
  Graph g;
  g.params = params;
  g.outputs = {output};
  g.output_names = {""};
  return g;
}

}  // namespace

TEST_CASE("views") {
  Builder b;
  const NodeRef x = b.param("x", DType::kF32, {Dim(2), Dim(3)});
  const Array input = array(DType::kF32, {2, 3}, {0, 1, 2, 3, 4, 5});
  const auto get = [&](const NodeRef& y) {
    return values(evaluate(one_output({x}, y), {input})[0]);
  };
  CHECK(get(b.permute(x, {1, 0})) == V{0, 3, 1, 4, 2, 5});
  CHECK(get(b.flip(x, {1})) == V{2, 1, 0, 5, 4, 3});
  CHECK(get(b.shrink(x, {{Dim(1), Dim(2)}, {Dim(1), Dim(3)}})) == V{4, 5});
  CHECK(get(b.pad(x, {{Dim(0), Dim(1)}, {Dim(1), Dim(0)}}, Scalar::of(DType::kF32, 9))) ==
        V{9, 0, 1, 2, 9, 3, 4, 5, 9, 9, 9, 9});
  CHECK(get(b.expand(b.reshape(b.shrink(x, {{Dim(0), Dim(2)}, {Dim(2), Dim(3)}}), {Dim(2), Dim(1)}),
                     {Dim(2), Dim(2)})) == V{2, 2, 5, 5});
  CHECK(get(b.reduce(Op::ADD, x, {1})) == V{3, 12});
  CHECK(get(b.reduce(Op::MAX, x, {0, 1})) == V{5});
  CHECK(get(b.reduce(Op::MUL, x, {0})) == V{0, 4, 10});
}

TEST_CASE("reductions over nothing give the identity") {
  Builder b;
  const NodeRef x = b.param("x", DType::kI16, {Dim(0), Dim(2)});
  const Array empty = Array::zeros(DType::kI16, {0, 2});
  const auto get = [&](Op op, DType acc) {
    return values(evaluate(one_output({x}, b.reduce(op, x, {0}, acc)), {empty})[0]);
  };
  CHECK(get(Op::ADD, DType::kI16) == V{0, 0});
  CHECK(get(Op::MUL, DType::kI32) == V{1, 1});
  CHECK(get(Op::MAX, DType::kI32) == V{-32768, -32768});
  CHECK(get(Op::MIN, DType::kI16) == V{32767, 32767});
}

TEST_CASE("take and store") {
  Builder b;
  const NodeRef x = b.param("x", DType::kF32, {Dim(3), Dim(2)});
  const NodeRef i = b.param("i", DType::kI64, {Dim(2), Dim(2)});
  const NodeRef v = b.param("v", DType::kF32, {Dim(2), Dim(2)});
  const Array ax = array(DType::kF32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const Array ai = array(DType::kI64, {2, 2}, {2, 0, 2, 7});
  const Array av = array(DType::kF32, {2, 2}, {10, 20, 30, 40});
  CHECK(values(evaluate(one_output({x, i}, b.take(x, i, 0)), {ax, ai})[0]) == V{5, 2, 5, 0});
  const auto store = [&](StoreMode mode) {
    return values(evaluate(one_output({x, i, v}, b.store(x, i, v, 0, mode)), {ax, ai, av})[0]);
  };
  CHECK(store(StoreMode::kLast) == V{1, 20, 3, 4, 30, 6});
  CHECK(store(StoreMode::kAdd) == V{1, 22, 3, 4, 45, 6});
}

TEST_CASE("loops, whiles and choices") {
  Builder b;
  const NodeRef trips = b.param("t", DType::kI64, {}), x = b.param("x", DType::kF64, {});
  const NodeRef i = b.param("i", DType::kI64, {});
  const NodeRef two = b.constant(Scalar::of(DType::kF64, 2));
  auto body = std::make_shared<Graph>(one_output({i, x}, b.binary(Op::MUL, x, two)));
  const auto power = [&](int64_t t) {
    const Graph g = one_output({trips, x}, b.loop(trips, {x}, {}, body, false, 0));
    return values(
        evaluate(g, {array(DType::kI64, {}, {double(t)}), array(DType::kF64, {}, {3})})[0]);
  };
  CHECK(power(0) == V{3});
  CHECK(power(-5) == V{3});
  CHECK(power(4) == V{48});

  // Doubles while the result stays below 100: the iteration that says stop is dropped.
  auto bounded = std::make_shared<Graph>(*body);
  const NodeRef doubled = b.binary(Op::MUL, x, two);
  bounded->outputs = {b.binary(Op::CMPLT, doubled, b.constant(Scalar::of(DType::kF64, 100))),
                      doubled};
  bounded->output_names = {"", ""};
  const Graph w = one_output({trips, x}, b.loop(trips, {x}, {}, bounded, true, 0));
  CHECK(values(evaluate(w, {array(DType::kI64, {}, {1e6}), array(DType::kF64, {}, {3})})[0]) ==
        V{96});

  const NodeRef c = b.param("c", DType::kBool, {});
  auto yes = std::make_shared<Graph>(one_output({x}, doubled));
  auto no = std::make_shared<Graph>(one_output({x}, x));
  const Graph choice = one_output({c, x}, b.if_(c, {x}, yes, no, 0));
  for (const double taken : {0.0, 1.0})
    CHECK(values(evaluate(choice, {array(DType::kBool, {}, {taken}),
                                   array(DType::kF64, {}, {5})})[0]) == V{taken ? 10.0 : 5.0});
}

TEST_CASE("symbols are read off the shapes and held to their bounds") {
  const std::string text =
      "graph rows(%x: f32[n, 2]) where 1 <= n <= 4 {\n"
      "  %s = reduce.add %x, axes=[0] : f32[1, 2]\n  return %s\n}\n";
  CHECK(run(text, array(DType::kF32, {3, 2}, {1, 2, 3, 4, 5, 6})) == V{9, 12});
  Builder b;
  const Graph g = parse_graph(text, b);
  const auto refuse = [&](const Array& x, const std::string& why, const SymbolValues& s = {}) {
    REQUIRE_THROWS_MATCHES(evaluate(g, {x}, s), Error, MessageMatches(ContainsSubstring(why)));
  };
  refuse(array(DType::kF32, {5, 2}, {}), "expected 1 <= n <= 4, got 5");
  refuse(array(DType::kF32, {2, 3}, {}), "shape [2, 2], got [2, 3]");
  refuse(array(DType::kF32, {4}, {}), "got [4]");
  refuse(array(DType::kF16, {2, 2}, {}), "expected f32 for %x, got f16");
  refuse(array(DType::kF32, {2, 2}, {}), "shape [3, 2], got [2, 2]", {{"n", 3}});
  REQUIRE_THROWS_MATCHES(evaluate(g, {}), Error, MessageMatches(ContainsSubstring("1 inputs")));
  REQUIRE_THROWS_MATCHES(Array::zeros(DType::kF64, {int64_t{1} << 40, int64_t{1} << 40}), Error,
                         MessageMatches(ContainsSubstring("2^63")));
}
