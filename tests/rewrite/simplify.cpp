// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simplify: the same bits on random graphs; what must go goes; what must stay stays.
#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"
#include "core/rewrite/passes.hpp"
#include "tests/rewrite/random_graph.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tenon;

namespace {

Graph graph_of(const std::vector<NodeRef>& params, const NodeRef& output) {
  Graph g;
  g.params = params;
  g.outputs = {output};
  g.output_names = {""};
  return g;
}

NodeRef simplified(Builder& b, const std::vector<NodeRef>& params, const NodeRef& output) {
  return simplify(graph_of(params, output), b).outputs[0];
}

/// A bit cast of a NaN shows its payload, which rules need not keep.
bool shows_payload(const Graph& graph) {
  for (const NodeRef& n : topological(graph.outputs))
    if (n->op == Op::CAST && n->as<CastAttr>().bits && is_float(n->sources[0]->dtype)) return true;
  return false;
}

}  // namespace

TEST_CASE("random graphs keep their bits") {
  int fewer = 0, compared = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Builder builder;
    test::RandomGraph r(builder, seed);
    r.grow(1 + seed % 3, 3 + seed % 25);
    if (shows_payload(r.graph)) continue;
    const Graph out = simplify(r.graph, builder);
    verify(out);
    const std::vector<Array> inputs = r.inputs();
    const auto before = evaluate(r.graph, inputs), after = evaluate(out, inputs);
    for (size_t i = 0; i < before.size(); ++i) {
      INFO("seed " << seed << " output " << i << "\n" << print(r.graph) << "\n" << print(out));
      REQUIRE(test::same(before[i], after[i]));
    }
    ++compared;
    fewer += topological(out.outputs).size() < topological(r.graph.outputs).size();
  }
  CHECK(compared > 2000);
  CHECK(fewer > 300);
}

TEST_CASE("identities that hold") {
  Builder b;
  const Shape shape{Dim(4)};
  const NodeRef x = b.param("x", DType::kF32, shape), n = b.param("n", DType::kI32, shape);
  const NodeRef c = b.param("c", DType::kBool, shape);
  const auto f = [&](double v) { return b.constant(Scalar::of(DType::kF32, v), shape); };
  const auto k = [&](int64_t v) { return b.constant(Scalar::of_int(DType::kI32, v), shape); };
  CHECK(simplified(b, {x}, b.binary(Op::MUL, f(1), x)) == x);
  CHECK(simplified(b, {x}, b.binary(Op::ADD, x, f(-0.0))) == x);
  CHECK(simplified(b, {x}, b.unary(Op::NEG, b.unary(Op::NEG, x))) == x);
  CHECK(simplified(b, {x}, b.binary(Op::FDIV, x, f(8))) == b.binary(Op::MUL, x, f(0.125)));
  CHECK(simplified(b, {n}, b.binary(Op::MUL, n, k(0))) == k(0));
  CHECK(simplified(b, {n}, b.binary(Op::ADD, b.binary(Op::ADD, k(3), n), k(4))) ==
        b.binary(Op::ADD, n, k(7)));
  CHECK(simplified(b, {x, c}, b.where(c, x, x)) == x);
  CHECK(simplified(b, {n}, b.cast(b.cast(n, DType::kI64), DType::kI32)) == n);
  CHECK(simplified(b, {n}, b.cast(b.cast(n, DType::kF64), DType::kI32)) == n);
  CHECK(simplified(b, {x}, b.binary(Op::MUL, x, b.binary(Op::ADD, f(0.5), f(0.5)))) == x);
}

TEST_CASE("identities that do not hold stay away") {
  Builder b;
  const Shape shape{Dim(4)};
  const NodeRef x = b.param("x", DType::kF32, shape);
  const NodeRef i = b.param("i", DType::kI32, shape);
  const auto f = [&](double v) { return b.constant(Scalar::of(DType::kF32, v), shape); };
  for (const NodeRef& kept :
       {b.binary(Op::ADD, x, f(0)), b.binary(Op::MUL, x, f(0)), b.binary(Op::SUB, x, x),
        b.binary(Op::CMPNE, x, x), b.binary(Op::FDIV, x, f(3)), b.binary(Op::SUB, x, f(-0.0)),
        b.cast(b.cast(x, DType::kF16), DType::kF32), b.cast(b.cast(i, DType::kF32), DType::kI32),
        b.cast(b.cast(i, DType::kF64), DType::kI8),
        b.binary(Op::ADD, b.binary(Op::ADD, x, f(1)), f(2))})
    CHECK(simplified(b, {x, i}, kept) == kept);
}

TEST_CASE("views collapse") {
  Builder b;
  const NodeRef x = b.param("x", DType::kF32, {Dim(4), Dim(6)});
  const auto pairs = [](int64_t a, int64_t c) {
    return std::vector<std::pair<Dim, Dim>>{{Dim(a), Dim(c)}, {Dim(a), Dim(c)}};
  };
  const Scalar fill = zero(DType::kF32);
  CHECK(simplified(b, {x}, b.permute(b.permute(x, {1, 0}), {1, 0})) == x);
  CHECK(simplified(b, {x}, b.flip(b.flip(x, {0, 1}), {1})) == b.flip(x, {0}));
  CHECK(simplified(b, {x}, b.reshape(b.reshape(x, {Dim(24)}), {Dim(4), Dim(6)})) == x);
  CHECK(simplified(b, {x}, b.pad(b.pad(x, pairs(1, 0), fill), pairs(0, 2), fill)) ==
        b.pad(x, pairs(1, 2), fill));
  CHECK(simplified(b, {x}, b.shrink(b.shrink(x, pairs(1, 4)), pairs(1, 2))) ==
        b.shrink(x, pairs(2, 3)));
  CHECK(simplified(b, {x}, b.shrink(b.pad(x, pairs(2, 2), fill), pairs(2, 6))) ==
        b.shrink(x, pairs(0, 4)));
  const NodeRef one = b.constant(Scalar::of(DType::kF32, 1));
  const NodeRef grown = b.expand(b.reshape(one, {Dim(1), Dim(1)}), {Dim(4), Dim(6)});
  CHECK(simplified(b, {x}, b.binary(Op::MUL, x, grown)) == x);
}

TEST_CASE("the results of one loop keep sharing it, and its body is simplified") {
  Builder b;
  const NodeRef trips = b.param("trips", DType::kI64, {});
  const NodeRef x = b.param("x", DType::kF32, {Dim(4)}), y = b.param("y", DType::kF32, {Dim(4)});
  auto body = std::make_shared<Graph>();
  const NodeRef i = b.param("i", DType::kI64, {});
  const NodeRef one = b.constant(Scalar::of(DType::kF32, 1), {Dim(4)});
  body->params = {i, x, y};
  body->outputs = {b.binary(Op::MUL, y, one), b.binary(Op::ADD, x, y)};
  body->output_names = {"", ""};
  Graph g = graph_of({trips, x, y}, b.loop(trips, {x, y}, {}, body, false, 0));
  g.outputs.push_back(b.loop(trips, {x, y}, {}, body, false, 1));
  g.output_names.push_back("");
  const Graph out = simplify(g, b);
  CHECK(out.outputs[0]->as<LoopAttr>().body == out.outputs[1]->as<LoopAttr>().body);
  CHECK(out.outputs[0]->as<LoopAttr>().body->outputs[0] == y);
}

TEST_CASE("deep and large graphs: no recursion, linear time") {
  const auto seconds = [](int depth) {
    Builder b;
    const NodeRef x = b.param("x", DType::kF32, {Dim(4)});
    NodeRef y = x;
    for (int i = 0; i < depth; ++i)
      y = i % 2 ? b.binary(Op::ADD, y, x) : b.unary(Op::NEG, b.unary(Op::NEG, y));
    const std::clock_t start = std::clock();  // of the processor: a busy machine does not count
    const Graph out = simplify(graph_of({x}, y), b);
    const std::clock_t end = std::clock();
    CHECK(topological(out.outputs).size() == static_cast<size_t>(depth / 2 + 1));
    return static_cast<double>(end - start) / CLOCKS_PER_SEC;
  };
  const double small = seconds(5000), large = seconds(50000);
  CHECK(large < 40 * small + 1);
}

TEST_CASE("a sum in f32 adds products of 16-bit floats as they are") {
  const Capabilities device = generic_capabilities();
  const Capabilities* const devices[] = {&device};
  const auto made = [&](const std::string& dtype, const std::string& reduce) {
    Builder builder;
    const std::string text = "graph g(%x: " + dtype + "[4,8], %y: " + dtype +
                             "[4,8]) {\n  %p = mul %x, %y\n  %s = " + reduce + "\n  return %s\n}\n";
    const Graph out = simplify_for(parse_graph(text, builder), devices, builder);
    verify(out);
    return print(out);
  };
  const auto is_whole = [](const std::string& text) {
    return text.find("mul") != std::string::npos && text.find("cast") < text.find("mul");
  };
  for (const std::string dtype : {"f16", "bf16"}) {
    CHECK(is_whole(made(dtype, "reduce.add %p, axes=[1]")));
    CHECK(is_whole(made(dtype, "reduce.add %p, axes=[1], acc=f64")));
    CHECK_FALSE(is_whole(made(dtype, "reduce.add %p, axes=[1], acc=" + dtype)));
    CHECK_FALSE(is_whole(made(dtype, "reduce.max %p, axes=[1]")));
  }
  for (const std::string dtype : {"f8e4m3", "f32", "i16"})
    CHECK_FALSE(is_whole(made(dtype, "reduce.add %p, axes=[1]")));
}
