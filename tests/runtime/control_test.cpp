// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IF, LOOP, copies between devices, and TENON_VALIDATE, by graphs that the reference runs too.
#include <catch2/catch_test_macros.hpp>

#include "core/ir/text/text.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

Array scalar(DType dtype, int64_t value) {
  Array array = Array::zeros(dtype, {});
  array.set(0, Scalar::of_int(dtype, value));
  return array;
}

Array row(std::vector<int64_t> values) {
  Array array = Array::zeros(DType::kI64, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    array.set(static_cast<int64_t>(i), Scalar::of_int(DType::kI64, values[i]));
  return array;
}

/// On each backend and on the reference; the arrays must be equal.
void check(const std::function<Graph(Builder&)>& make, const std::vector<Array>& inputs,
           const SymbolValues& symbols = {}) {
  for (const char* backend : {"null", "cpu"}) {
    if (!fs::exists(plugin_file(backend))) continue;
    for (const bool validate : {false, true}) {
      CAPTURE(backend, validate);
      RuntimeOptions options = options_for(backend, backend);
      options.validate = validate;
      options.guard_bytes = validate ? 64 : 0;
      Runtime runtime(options);
      const Graph graph = make(runtime.builder());
      const auto expected = evaluate(graph, inputs, symbols);
      for (int again = 0; again < 2; ++again) {
        const auto got = runtime.run(graph, inputs, symbols, "");
        REQUIRE(got.size() == expected.size());
        for (size_t o = 0; o < got.size(); ++o) {
          CAPTURE(o);
          CHECK(got[o].shape == expected[o].shape);
          CHECK(got[o].bytes == expected[o].bytes);
        }
      }
      CHECK(runtime.device().check_guards().empty());
    }
  }
}

/// (i, a, b) -> (b, a + b + i): one carried value is the other's old one.
GraphRef fibonacci_body(Builder& b) {
  auto body = std::make_shared<Graph>();
  const Shape shape{Expr(3)};
  body->params = {b.param("i", DType::kI64, {}), b.param("a", DType::kI64, shape),
                  b.param("b", DType::kI64, shape)};
  const NodeRef i = b.expand(b.reshape(body->params[0], {Expr(1)}), shape);
  const NodeRef sum = b.binary(Op::ADD, body->params[1], body->params[2]);
  body->outputs = {body->params[2], b.binary(Op::ADD, sum, i)};
  body->output_names = {"", ""};
  return body;
}

Graph loop_graph(Builder& b) {
  Graph graph;
  graph.params = {b.param("n", DType::kI64, {}), b.param("a", DType::kI64, {Expr(3)}),
                  b.param("b", DType::kI64, {Expr(3)})};
  const GraphRef body = fibonacci_body(b);
  for (int result = 0; result < 2; ++result)
    graph.outputs.push_back(
        b.loop(graph.params[0], {graph.params[1], graph.params[2]}, {}, body, false, result));
  graph.output_names = {"", ""};
  return graph;
}

/// Doubles x while it is below a captured limit.
Graph while_graph(Builder& b) {
  Graph graph;
  graph.params = {b.param("x", DType::kI64, {}), b.param("limit", DType::kI64, {})};
  auto body = std::make_shared<Graph>();
  body->params = {b.param("i", DType::kI64, {}), b.param("x", DType::kI64, {}),
                  b.param("limit", DType::kI64, {})};
  const NodeRef twice = b.binary(Op::ADD, body->params[1], body->params[1]);
  body->outputs = {b.binary(Op::CMPLT, twice, body->params[2]), twice};
  body->output_names = {"", ""};
  graph.outputs = {b.loop(b.constant(Scalar::of_int(DType::kI64, 50)), {graph.params[0]},
                          {graph.params[1]}, body, true, 0)};
  graph.output_names = {""};
  return graph;
}

Graph if_graph(Builder& b) {
  Graph graph;
  graph.params = {b.param("flag", DType::kI64, {}), b.param("x", DType::kI64, {Expr(3)})};
  auto yes = std::make_shared<Graph>(), no = std::make_shared<Graph>();
  for (const auto& branch : {yes, no}) branch->params = {b.param("x", DType::kI64, {Expr(3)})};
  yes->outputs = {b.binary(Op::MUL, yes->params[0], yes->params[0]), yes->params[0]};
  no->outputs = {no->params[0], b.binary(Op::ADD, no->params[0], no->params[0])};
  yes->output_names = no->output_names = {"", ""};
  const NodeRef zero = b.constant(Scalar::of_int(DType::kI64, 0));
  const NodeRef condition = b.binary(Op::CMPLT, zero, graph.params[0]);
  for (int result = 0; result < 2; ++result)
    graph.outputs.push_back(b.if_(condition, {graph.params[1]}, yes, no, result));
  graph.output_names = {"", ""};
  return graph;
}

}  // namespace

TEST_CASE("loops keep their state on the device") {
  for (const int64_t trips : {-3, 0, 1, 2, 3, 40})
    check(loop_graph, {scalar(DType::kI64, trips), row({0, 1, -4}), row({1, 1, 9})});
}

TEST_CASE("while loops drop the trip that ended them") {
  for (const int64_t start : {1, 3, 200})
    check(while_graph, {scalar(DType::kI64, start), scalar(DType::kI64, 100)});
  check(while_graph, {scalar(DType::kI64, 0), scalar(DType::kI64, 1)});  // up to the bound
}

TEST_CASE("branches") {
  for (const int64_t flag : {1, 0}) check(if_graph, {scalar(DType::kI64, flag), row({5, -6, 7})});
}

TEST_CASE("stores and takes") {
  const char* const text = R"(graph scatter(%x: i64[4], %at: i64[3], %v: i64[3]) {
  %s = store.add %x, %at, %v, axis=0   : i64[4]
  %t = take %s, %at, axis=0            : i64[3]
  return %s, %t
})";
  check([&](Builder& b) { return parse_graph(text, b); },
        {row({1, 2, 3, 4}), row({1, 1, 9}), row({10, 20, 30})});
}

TEST_CASE("a graph over two devices copies what crosses") {
  RuntimeOptions options = options_for("null,fake:0", "fake");
  options.plugins.push_back(plugin_file("null"));
  Runtime runtime(options);
  Builder& b = runtime.builder();
  Graph graph;
  graph.params = {b.param("x", DType::kI64, {Expr(4)})};
  graph.outputs = {b.copy(b.binary(Op::ADD, graph.params[0], graph.params[0]), "fake:0")};
  graph.output_names = {""};
  const Array x = row({1, 2, 3, 4});
  const BufferRef input = runtime.device().allocate(32, "x");
  runtime.device().write(*input, 0, x.bytes.data(), 32);
  const auto outputs = runtime.run(graph, std::vector<BufferRef>{input});
  CHECK(outputs[0]->device().id() == "fake:0");
  Array got = row({0, 0, 0, 0});
  outputs[0]->device().read(*outputs[0], 0, got.bytes.data(), 32);
  CHECK(got.bytes == row({2, 4, 6, 8}).bytes);
  Runtime other(options_for("fake:2", "fake"));
  CHECK(has(error_of([&] { other.run(graph, std::vector<BufferRef>{input}); }),
            "expected buffers of this context's devices, got one of null:0"));
}

TEST_CASE("validation names the first kernel that differs") {
  RuntimeOptions options = options_for("fake:0", "fake");
  options.validate = true;
  Runtime runtime(options);  // its kernels write 7 into the first argument and no other
  const char* const text = R"(graph wrong(%x: i32[2]) {
  %y = add %x, %x       : i32[2]
  return %y
})";
  const Graph graph = parse_graph(text, runtime.builder());
  ErrorKind kind{};
  const std::string message =
      error_of([&] { runtime.run(graph, {Array::zeros(DType::kI32, {2})}, {}, ""); }, &kind);
  CHECK(has(message,
            "[validate] kernel k0 on fake:0, output 0, element 0: expected 0 (of [0, 0]), got "));
  CHECK(kind == ErrorKind::kInternal);
}

TEST_CASE("an IF counts with the symbols of the graph around it") {
  const char* const text = R"(graph g(%x: f32[n], %c: bool[]) where 1 <= n <= 64 {
  graph yes(%a: f32[n]) {
    %0 = const 1.0 : f32[n]
    %1 = add %a, %0 : f32[n]
    return %1
  }
  graph no(%a: f32[n]) {
    %0 = mul %a, %a : f32[n]
    return %0
  }
  %0 = if %c, %x, then=yes, else=no, result=0 : f32[n]
  return %0
})";
  Array values = Array::zeros(DType::kF32, {5});
  for (int64_t i = 0; i < 5; ++i) values.set(i, Scalar::of(DType::kF32, 1.5 * double(i)));
  for (const int64_t yes : {0, 1})
    check([&](Builder& b) { return parse_graph(text, b); }, {values, scalar(DType::kBool, yes)},
          {{"n", 5}});
}

TEST_CASE("a result of another dtype does not go over the operand that it replaces") {
  const char* const text =
      R"(graph g(%x: i16[3, 4], %v: i16[3, 1], %i: i32[3, 1], %y: f16[3, 1], %c: bool[]) {
  graph yes(%a: f16[3, 4]) {
    %0 = const 1.0 : f16[3, 4]
    %1 = add %a, %0 : f16[3, 4]
    return %1
  }
  graph no(%a: f16[3, 4]) {
    %0 = mul %a, %a : f16[3, 4]
    return %0
  }
  %0 = store %x, %i, %v, axis=1 : i16[3, 4]
  %1 = take %y, %0, axis=1 : f16[3, 4]
  %2 = if %c, %1, then=yes, else=no, result=0 : f16[3, 4]
  return %2
})";
  Array y = Array::zeros(DType::kF16, {3, 1});
  for (int64_t i = 0; i < 3; ++i) y.set(i, Scalar::of(DType::kF16, double(i) + 0.5));
  check([&](Builder& b) { return parse_graph(text, b); },
        {Array::zeros(DType::kI16, {3, 4}), Array::zeros(DType::kI16, {3, 1}),
         Array::zeros(DType::kI32, {3, 1}), y, scalar(DType::kBool, 1)});
}
