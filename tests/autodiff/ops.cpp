// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The derivative of every op of graphs, and of every kind of view.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>

#include "tests/autodiff/numeric.hpp"

namespace tenon::test {
namespace {

const std::vector<double> kPositive{0.3, 1.7, 2.5, 0.9}, kMixed{-1.3, 0.4, 2.2, -0.6};

void check_elementwise(const std::string& statement, const std::vector<double>& a,
                       const std::vector<double>& b = kPositive) {
  check_gradient(fmt::format("graph g(%a: f64[4], %b: f64[4], %c: f64[4]) {{\n  %y = {}\n  "
                             "return %y\n}}\n",
                             statement),
                 {{"a", a}, {"b", b}, {"c", {0.1, -0.2, 0.3, 1.5}}});
}

TEST_CASE("autodiff: elementwise ops") {
  check_elementwise("recip %a", kMixed);
  check_elementwise("sqrt %a", kPositive);
  check_elementwise("exp2 %a", kMixed);
  check_elementwise("log2 %a", kPositive);
  check_elementwise("sin %a", kMixed);
  check_elementwise("neg %a", kMixed);
  check_elementwise("exp %a", kMixed);
  check_elementwise("ln %a", kPositive);
  check_elementwise("cos %a", kMixed);
  check_elementwise("add %a, %b", kMixed);
  check_elementwise("sub %a, %b", kMixed);
  check_elementwise("mul %a, %b", kMixed);
  check_elementwise("mul %a, %a", kMixed);
  check_elementwise("fdiv %a, %b", kMixed);
  check_elementwise("max %a, %b", kMixed);
  check_elementwise("min %a, %b", kMixed);
  check_elementwise("fma %a, %b, %c", kMixed);
}

std::vector<double> gradient_of(const std::string& text, const std::string& wrt,
                                const std::vector<Array>& inputs) {
  Builder builder;
  const Graph graph = parse_graph(text, builder);
  const std::string names[] = {wrt};
  const Graph gradient = gradient_graph(graph, 0, names, builder);
  const Array got = evaluate(gradient, inputs)[1];
  std::vector<double> out;
  for (int64_t i = 0; i < got.count(); ++i) out.push_back(got.at(i).as_double());
  return out;
}

TEST_CASE("autodiff: where no side is chosen, equal operands share") {
  const Array x = array_of(DType::kF64, {3}, {1, 2, 3}), y = array_of(DType::kF64, {3}, {1, 5, 0});
  const std::string text = R"(graph g(%x: f64[3], %y: f64[3]) {
    %m = max %x, %y
    %s = reduce.add %m, axes=[0]
    return %s
  })";
  CHECK(gradient_of(text, "x", {x, y}) == std::vector<double>{0.5, 0, 1});
  CHECK(gradient_of(text, "y", {x, y}) == std::vector<double>{0.5, 1, 0});
  const std::string extremes = R"(graph g(%x: f64[4]) {
    %s = reduce.max %x, axes=[0]
    return %s
  })";
  CHECK(gradient_of(extremes, "x", {array_of(DType::kF64, {4}, {2, 1, 2, 0})}) ==
        std::vector<double>{0.5, 0, 0.5, 0});
}

TEST_CASE("autodiff: what where does not choose contributes nothing") {
  // sqrt, ln, recip and exp of what is masked have derivatives of infinity and NaN there.
  for (const char* op : {"sqrt %x", "ln %x", "recip %x", "log2 %x"}) {
    const std::string text = fmt::format(R"(graph g(%x: f64[2]) {{
      %0 = const 0 : f64[2]
      %c = cmplt %0, %x
      %r = {}
      %w = where %c, %r, %0
      %s = reduce.add %w, axes=[0]
      return %s
    }})",
                                         op);
    INFO(op);
    const std::vector<double> got = gradient_of(text, "x", {array_of(DType::kF64, {2}, {0, 4})});
    CHECK(got[0] == 0);
    CHECK(std::isfinite(got[1]));
    CHECK(got[1] != 0);
  }
}

TEST_CASE("autodiff: where and casts") {
  check_gradient(R"(graph g(%a: f64[4], %b: f64[4]) {
    %0 = const 0 : f64[4]
    %c = cmplt %a, %0
    %w = where %c, %a, %b
    %y = mul %w, %w
    return %y
  })");
  check_gradient(R"(graph g(%a: f64[4]) {
    %i = cast %a : i32
    %f = cast %i : f64
    %y = mul %a, %f
    return %y
  })",
                 {{"a", kMixed}});
}

TEST_CASE("autodiff: views") {
  for (const char* view :
       {"reshape %x : f64[4, 3]", "permute %x, axes=[1, 0]", "flip %x, axes=[0, 1]",
        "pad %x, pairs=[(1, 2), (0, 3)], fill=2.5", "shrink %x, ranges=[(1, 3), (2, 4)]"}) {
    check_gradient(
        fmt::format("graph g(%x: f64[3, 4]) {{\n  %v = {}\n  %y = mul %v, %v\n  return "
                    "%y\n}}\n",
                    view));
  }
  check_gradient(R"(graph g(%x: f64[3, 1, 2, 1]) {
    %e = expand %x : f64[3, 4, 2, 5]
    %s = sin %e
    %i = index axis=1 : i64[3, 4, 2, 5]
    %f = cast %i : f64
    %y = mul %s, %f
    return %y
  })");
}

TEST_CASE("autodiff: reductions") {
  for (const char* op : {"add", "mul", "max", "min"})
    for (const char* axes : {"[0]", "[1]", "[0, 2]", "[0, 1, 2]"})
      check_gradient(
          fmt::format("graph g(%x: f64[3, 4, 2]) {{\n  %r = reduce.{} %x, axes={}\n  %y = "
                      "sin %r\n  return %y\n}}\n",
                      op, axes));
}

TEST_CASE("autodiff: a product with zeros among its factors") {
  const std::string text = R"(graph g(%x: f64[5]) {
    %y = reduce.mul %x, axes=[0]
    return %y
  })";
  check_gradient(text, {{"x", {2, 0, 3, -1, 0.5}}});
  CHECK(gradient_of(text, "x", {array_of(DType::kF64, {5}, {2, 0, 3, -1, 0.5})}) ==
        std::vector<double>{0, -3, 0, 0, 0});
  CHECK(gradient_of(text, "x", {array_of(DType::kF64, {5}, {2, 0, 3, 0, 0.5})}) ==
        std::vector<double>{0, 0, 0, 0, 0});
  // Its second derivative by the two zeros is the product of the others.
  Builder builder;
  const Graph graph = parse_graph(text, builder);
  const std::string names[] = {"x"};
  const Graph first = gradient_graph(graph, 0, names, builder);
  const Graph second = gradient_graph(first, 1, names, builder);
  const Array x = array_of(DType::kF64, {5}, {2, 0, 3, 0, 0.5}),
              seed = array_of(DType::kF64, {5}, {0, 1, 0, 0, 0});
  CHECK(evaluate(second, {x, seed})[1].at(3).as_double() == 3);
}

TEST_CASE("autodiff: take and store, with indices that repeat or are out of bounds") {
  const Given indices{{"i", {1, 1, 7, 0, 2, -1}}};
  check_gradient(R"(graph g(%x: f64[4], %i: i64[6]) {
    %t = take %x, %i, axis=0
    %y = mul %t, %t
    return %y
  })",
                 indices);
  for (const char* mode : {"store", "store.add"})
    check_gradient(fmt::format(R"(graph g(%x: f64[4], %i: i64[6], %v: f64[6]) {{
      %t = {} %x, %i, %v, axis=0
      %y = mul %t, %t
      return %y
    }})",
                               mode),
                   indices);
  check_gradient(R"(graph g(%x: f64[2, 3], %i: i32[2, 2], %v: f64[2, 2]) {
    %t = store %x, %i, %v, axis=1
    %y = sin %t
    return %y
  })",
                 {{"i", {2, 2, 0, 1}}});
}

TEST_CASE("autodiff: a gradient goes back to the device that the value came from") {
  Builder builder;
  const Graph graph = parse_graph(R"(graph g(%x: f64[2]) {
    %a = copy %x, device="first:0"
    %b = sin %a
    %c = copy %b, device="second:1"
    %y = mul %c, %c
    return %y
  })",
                                  builder);
  GradientOptions options;
  options.device_of = [](const Node&) { return "home:0"; };
  const std::string names[] = {"x"};
  const Graph known = gradient_graph(graph, 0, names, builder, options);
  REQUIRE(known.outputs[1]->op == Op::COPY);
  CHECK(known.outputs[1]->as<CopyAttr>().device == "home:0");
  CHECK(print(known).find("device=\"first:0\"") != print(known).rfind("device=\"first:0\""));
  // Of an input that may be anywhere, the gradient stays where it is.
  CHECK(gradient_graph(graph, 0, names, builder).outputs[1]->op == Op::MUL);
}

TEST_CASE("autodiff: what contractions give to one factor is contracted by each") {
  const std::string text = R"(graph g(%x: f64[3, 2], %a: f64[2, 4], %b: f64[2, 4]) {
    %x1 = reshape %x : f64[3, 2, 1]
    %x2 = expand %x1 : f64[3, 2, 4]
    %a1 = reshape %a : f64[1, 2, 4]
    %a2 = expand %a1 : f64[3, 2, 4]
    %b1 = reshape %b : f64[1, 2, 4]
    %b2 = expand %b1 : f64[3, 2, 4]
    %p = mul %x2, %a2
    %q = mul %x2, %b2
    %s = reduce.add %p, axes=[1]
    %t = reduce.add %q, axes=[1]
    %u = sin %t
    %e = exp %x2
    %r = reduce.add %e, axes=[1]
    %v = add %s, %u
    %y = add %v, %r
    return %y
  })";
  check_gradient(text);
  Builder builder;
  const std::vector<std::string> names{"x"};
  const Graph known = gradient_graph(parse_graph(text, builder), 0, names, builder);
  int contractions = 0;
  for (const NodeRef& node : topological({known.outputs[1]}))
    contractions += node->op == Op::REDUCE && node->sources[0]->op == Op::MUL &&
                    node->as<ReduceAttr>().axes == std::vector<int>{2};
  CHECK(contractions == 2);
}

TEST_CASE("autodiff: sizes with symbols") {
  check_gradient(R"(graph g(%x: f64[n, 3], %w: f64[3]) where 1 <= n <= 8 {
    %m = reduce.max %x, axes=[1]
    %e = expand %m : f64[n, 3]
    %d = sub %x, %e
    %p = exp %d
    %r = reshape %w : f64[1, 3]
    %f = expand %r : f64[n, 3]
    %q = mul %p, %f
    %s = reduce.add %q, axes=[0]
    %t = reduce.mul %q, axes=[0]
    %y = add %s, %t
    return %y
  })");
}

TEST_CASE("autodiff: narrow floats are summed in f32 and rounded once") {
  // 4096 uses of one value: f16 alone would stop at 2048.
  for (const char* dtype : {"f16", "bf16"}) {
    const std::string text = fmt::format(R"(graph g(%x: {0}[1]) {{
      %e = expand %x : {0}[4096]
      %f = cast %e : f32
      %y = reduce.add %f, axes=[0]
      return %y
    }})",
                                         dtype);
    const DType type = *dtype_from_name(dtype);
    CHECK(gradient_of(text, "x", {array_of(type, {1}, {1})}) == std::vector<double>{4096});
  }
  const std::string taken = R"(graph g(%x: f16[2], %i: i32[4096]) {
    %t = take %x, %i, axis=0
    %f = cast %t : f32
    %y = reduce.add %f, axes=[0]
    return %y
  })";
  CHECK(gradient_of(taken, "x",
                    {array_of(DType::kF16, {2}, {1, 1}), Array::zeros(DType::kI32, {4096})}) ==
        std::vector<double>{4096, 0});
}

}  // namespace
}  // namespace tenon::test
