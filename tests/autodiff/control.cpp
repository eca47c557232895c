// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients through IF, LOOP and CALL.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/ir/verify.hpp"
#include "core/support/error.hpp"
#include "tests/autodiff/numeric.hpp"

namespace tenon::test {
namespace {

TEST_CASE("autodiff: if") {
  for (const double condition : {0.0, 1.0})
    check_gradient(R"(graph g(%c: bool[], %x: f64[3], %w: f64[3]) {
      graph then(%a: f64[3], %b: f64[3]) {
        %y = mul %a, %b
        %z = sin %a
        return %y, %z
      }
      graph else(%a: f64[3], %b: f64[3]) {
        %y = exp %a
        %z = add %a, %b
        return %y, %z
      }
      %p = if %c, %x, %w, then=then, else=else, result=0
      %q = if %c, %x, %w, then=then, else=else, result=1
      %r = mul %p, %q
      return %r
    })",
                   {{"c", {condition}}});
}

/// x' = sin(0.3 x * w) + i * v, which does not grow, y' = y + x
std::string loop_text(const std::string& trips) {
  return fmt::format(R"(graph g(%x: f64[3], %y: f64[], %w: f64[3], %v: f64[], %n: i64[]) {{
    graph body(%i: i64[], %a: f64[3], %b: f64[], %k: f64[3], %u: f64[]) {{
      %0 = const 0.3 : f64[3]
      %o = mul %k, %0
      %p = mul %a, %o
      %s = sin %p
      %f = cast %i : f64
      %g = mul %f, %u
      %h = reshape %g : f64[1]
      %e = expand %h : f64[3]
      %c = add %s, %e
      %r = reduce.add %a, axes=[0]
      %t = reshape %r : f64[]
      %d = add %b, %t
      return %c, %d
    }}
    %m = {}
    %q = loop %m, %x, %y, %w, %v, body=body, carried=2, result=0
    %z = loop %m, %x, %y, %w, %v, body=body, carried=2, result=1
    %r = reshape %z : f64[1]
    %o = expand %r : f64[3]
    %l = mul %q, %o
    return %l
  }})",
                     trips);
}

TEST_CASE("autodiff: loops keep their states") {
  const Given one_trip{{"n", {1}}};
  check_gradient(loop_text("const 0 : i64[]"), one_trip);
  check_gradient(loop_text("const 1 : i64[]"), one_trip);
  check_gradient(loop_text("const 5 : i64[]"), one_trip);
  check_gradient(loop_text("const -3 : i64[]"), one_trip);
}

TEST_CASE("autodiff: loops in segments") {
  GradientOptions options;
  options.kept_bytes = 0;
  for (const int trips : {4, 5, 9, 17, 25, 26})
    check_gradient(loop_text(fmt::format("const {} : i64[]", trips)), {{"n", {1}}}, options);
}

TEST_CASE("autodiff: a long sum of a trip is kept, as far as there is room") {
  const std::string text = R"(graph g(%x: f64[2], %w: f64[2, 40]) {
    graph body(%i: i64[], %a: f64[2], %k: f64[2, 40]) {
      %b = reshape %a : f64[2, 1]
      %c = expand %b : f64[2, 40]
      %p = mul %c, %k
      %r = reduce.add %p, axes=[1]
      %e = expand %r : f64[2, 40]
      %q = reduce.max %e, axes=[1]
      %t = reshape %q : f64[2]
      %s = sin %t
      return %s
    }
    %n = const 3 : i64[]
    %y = loop %n, %x, %w, body=body, carried=1
    return %y
  })";
  const auto sums_on_the_way_back = [&](const GradientOptions& options) {
    check_gradient(text, {}, options);
    Builder builder;
    const std::vector<std::string> names{"x", "w"};
    const Graph known = gradient_graph(parse_graph(text, builder), 0, names, builder, options);
    REQUIRE(known.outputs[1]->op == Op::LOOP);
    int sums = 0;
    for (const NodeRef& n : topological(known.outputs[1]->as<LoopAttr>().body->outputs))
      sums += n->op == Op::REDUCE && n->sources[0]->op == Op::MUL;
    return sums;
  };
  GradientOptions options;
  CHECK(sums_on_the_way_back(options) == 1);
  options.kept_bytes = 0;
  CHECK(sums_on_the_way_back(options) == 2);
}

TEST_CASE("autodiff: what each trip adds as a product is one product after the loop") {
  // x' = sin(x w) of [2, 8] by [8, 8]: dw is 64 numbers, its factors 16 each; or a while loop.
  const std::string text = R"(graph g(%x: f64[2, 8], %w: f64[8, 8]) {{
    graph body(%i: i64[], %a: f64[2, 8], %k: f64[8, 8]) {{
      %0 = reshape %a : f64[2, 8, 1]
      %1 = expand %0 : f64[2, 8, 8]
      %2 = reshape %k : f64[1, 8, 8]
      %3 = expand %2 : f64[2, 8, 8]
      %p = mul %1, %3
      %r = reduce.add %p, axes=[1]
      %y = reshape %r : f64[2, 8]
      %s = sin %y
      {}
    }}
    %n = const 5 : i64[]
    {}
    return %o
  }})";
  const std::string plain = fmt::format(fmt::runtime(text), "return %s",
                                        "%o = loop %n, %x, %w, body=body, carried=1, result=0");
  const std::string open =
      fmt::format(fmt::runtime(text),
                  R"(%4 = const 3 : i64[]
      %c = cmplt %i, %4
      return %c, %s)",
                  "%o = loop %n, %x, %w, body=body, carried=1, while=true, result=0");
  const auto sums_on_the_way_back = [&](const std::string& of, const GradientOptions& options) {
    check_gradient(of, {}, options);
    Builder builder;
    const std::vector<std::string> names{"w"};
    const Graph known = gradient_graph(parse_graph(of, builder), 0, names, builder, options);
    int sums = 0;
    for (const NodeRef& n : topological({known.outputs[1]}))
      if (n->op == Op::LOOP)
        for (const NodeRef& param : n->as<LoopAttr>().body->params)
          sums += param->as<ParamAttr>().name.starts_with("sum");
    return sums;
  };
  GradientOptions options;
  CHECK(sums_on_the_way_back(plain, options) == 0);
  CHECK(sums_on_the_way_back(open, options) == 0);
  options.kept_bytes = 1200;  // the states of five trips, not 16 numbers of each beside them
  CHECK(sums_on_the_way_back(plain, options) > 0);
}

TEST_CASE("autodiff: as many trips as there are numbers") {
  Builder builder;
  const std::string names[] = {"x"};
  const Graph graph = parse_graph(loop_text("const 9223372036854775807 : i64[]"), builder);
  // 3 billion segments, each of so many trips.
  const Graph gradient = gradient_graph(graph, 0, names, builder);
  verify(gradient);
  CHECK(print(gradient).find("const 3037000500 ") != std::string::npos);
}

TEST_CASE("autodiff: a bound is enough for a loop whose trips depend on values") {
  for (const double trips : {-1.0, 0.0, 3.0, 6.0, 9.0})
    check_gradient(R"(graph g(%x: f64[2], %n: i64[]) {
      graph body(%i: i64[], %a: f64[2]) {
        %b = sin %a
        return %b
      }
      %k = const 6 : i64[]
      %m = min %n, %k
      %y = loop %m, %x, body=body, carried=1
      return %y
    })",
                   {{"n", {trips}}});
}

TEST_CASE("autodiff: a while loop differentiates the trips that it ran") {
  for (const double limit : {0.5, 3.0, 20.0})
    check_gradient(R"(graph g(%x: f64[], %l: f64[]) {
      graph body(%i: i64[], %a: f64[], %m: f64[]) {
        %c = cmplt %a, %m
        %k = const 1.5 : f64[]
        %b = mul %a, %k
        %d = add %b, %a
        return %c, %d
      }
      %n = const 10 : i64[]
      %y = loop %n, %x, %l, body=body, carried=1, while=true
      %z = mul %y, %y
      return %z
    })",
                   {{"x", {1.0}}, {"l", {limit}}});
}

TEST_CASE("autodiff: a loop of unknown length is named") {
  Builder builder;
  const Graph graph = parse_graph(loop_text("add %n, %n"), builder);
  const std::string names[] = {"x"};
  REQUIRE_THROWS_WITH(gradient_graph(graph, 0, names, builder),
                      Catch::Matchers::ContainsSubstring("the loop \"body\""));
}

TEST_CASE("autodiff: loops in loops and in branches") {
  const std::string text = R"(graph g(%x: f64[2], %w: f64[2], %c: bool[]) {
    graph outer(%i: i64[], %a: f64[2], %k: f64[2]) {
      graph inner(%j: i64[], %b: f64[2], %k: f64[2]) {
        %s = sin %b
        %d = add %s, %k
        return %d
      }
      %n = const 3 : i64[]
      %b = loop %n, %a, %k, body=inner, carried=1
      %e = mul %b, %k
      return %e
    }
    graph then(%a: f64[2], %k: f64[2]) {
      graph step(%j: i64[], %b: f64[2], %k: f64[2]) {
        %s = mul %b, %k
        return %s
      }
      %n = const 4 : i64[]
      %b = loop %n, %a, %k, body=step, carried=1
      return %b
    }
    graph else(%a: f64[2], %k: f64[2]) {
      return %k
    }
    %n = const 4 : i64[]
    %y = loop %n, %x, %w, body=outer, carried=1
    %z = if %c, %y, %w, then=then, else=else
    return %z
  })";
  GradientOptions segments;
  segments.kept_bytes = 0;
  check_gradient(text, {{"c", {1}}});
  check_gradient(text, {{"c", {0}}});
  check_gradient(text, {{"c", {1}}}, segments);
}

constexpr const char* kSquare = R"(graph g(%x: f64[3], %w: f64[3]) {{
    graph square(%a: f64[3], %b: f64[3]) {{
      %y = mul %a, %a
      %z = mul %y, %b
      return %y, %z
    }}
    graph twice(%a: f64[3], %b: f64[3], %y: f64[3], %z: f64[3], %gy: f64[3], %gz: f64[3]) {{
      %k = const 100 : f64[3]
      %p = mul %gy, %k
      %q = mul %gz, %k
      return %p, %q
    }}
    %s = sin %x
    %p = call %s, %w, body=square{0}, result=0
    %q = call %s, %w, body=square{0}, result=1
    %r = add %p, %q
    return %r
  }})";

TEST_CASE("autodiff: calls") {
  check_gradient(fmt::format(kSquare, ""));
  check_gradient(fmt::format(kSquare, ", recompute=true"));
}

TEST_CASE("autodiff: a call's own gradient, or none") {
  const Array x = array_of(DType::kF64, {3}, {0, 0, 0}),
              ones = array_of(DType::kF64, {3}, {1, 1, 1});
  Builder builder;
  const std::string names[] = {"x", "w"};
  const Graph own = gradient_graph(parse_graph(fmt::format(kSquare, ", gradient=twice"), builder),
                                   0, names, builder);
  const std::vector<Array> got = evaluate(own, {x, x, ones});
  CHECK(got[1].at(0).as_double() == 100);
  CHECK(got[2].at(0).as_double() == 100);
  REQUIRE_THROWS_WITH(
      gradient_graph(parse_graph(fmt::format(kSquare, ", stop=true"), builder), 0, names, builder),
      Catch::Matchers::ContainsSubstring(
          "its path ends at square f64[3]: it lets no gradient through"));
}

TEST_CASE("autodiff: wrong questions are answered with what is wrong") {
  Builder builder;
  const Graph graph = parse_graph(R"(graph g(%x: f64[3], %i: i64[3], %z: f64[3], %w: f64[3]) {
    %c = cmplt %x, %z
    %y = where %c, %x, %x
    %k = cast %c : i32
    %f = floor %w
    %g = add %y, %f
    return %g, %k
  })",
                                  builder);
  const auto of = [&](const std::string& name, size_t output = 0) {
    const std::string names[] = {name};
    return gradient_graph(graph, output, names, builder);
  };
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_WITH(of("q"), ContainsSubstring("expected one of the params x, i, z, w, got q"));
  CHECK_THROWS_WITH(of("i"), ContainsSubstring("expected a param of a float dtype, got i i64[3]"));
  CHECK_THROWS_WITH(of("z"), ContainsSubstring("its path ends at cmplt bool[3]: a comparison"));
  CHECK_THROWS_WITH(of("w"), ContainsSubstring("its path ends at floor f64[3]: rounding"));
  CHECK_THROWS_WITH(of("x", 1),
                    ContainsSubstring("expected an output of a float dtype, got k i32[3]"));
  CHECK_THROWS_WITH(of("x", 2), ContainsSubstring("expected an output below 2, got 2"));
  const std::string twice[] = {"x", "x"};
  CHECK_THROWS_WITH(gradient_graph(graph, 0, twice, builder),
                    ContainsSubstring("expected different params, got x twice"));
}

}  // namespace
}  // namespace tenon::test
