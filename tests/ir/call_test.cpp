// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls: their rules, their text, and graphs after inlining.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/ir/substitute.hpp"
#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string with_call(const std::string& call) {
  return fmt::format(R"(graph g(%x: f32[2], %i: i32[2]) {{
  graph square(%a: f32[2], %k: i32[2]) {{
    %y = mul %a, %a
    return %y, %k
  }}
  graph adjoint(%a: f32[2], %k: i32[2], %y: f32[2], %z: i32[2], %g: f32[2], %h: i32[2]) {{
    return %g
  }}
  graph nothing() {{
    %c = const 1 : f32[2]
    return %c
  }}
  %q = {}
  return %q
}}
)",
                     call);
}

TEST_CASE("call: text round trips") {
  for (const char* call :
       {"call %x, %i, body=square, result=0", "call %x, %i, body=square, result=1",
        "call %x, %i, body=square, gradient=adjoint, result=0",
        "call %x, %i, body=square, recompute=true, result=0",
        "call %x, %i, body=square, stop=true, result=1", "call body=nothing"}) {
    Builder builder, other;
    const Graph graph = parse_graph(with_call(call), builder);
    const std::string text = print(graph);
    CHECK_THAT(text, ContainsSubstring(call));
    const Graph again = parse_graph(text, other);
    CHECK(print(again) == text);
    CHECK(same_structure(graph, again));
    CHECK(structure_hash(graph) == structure_hash(again));
  }
}

TEST_CASE("call: what differs is different") {
  Builder builder;
  const Graph plain = parse_graph(with_call("call %x, %i, body=square, result=0"), builder);
  for (const char* call : {"call %x, %i, body=square, gradient=adjoint, result=0",
                           "call %x, %i, body=square, recompute=true, result=0"})
    CHECK_FALSE(same_structure(plain, parse_graph(with_call(call), builder)));
}

TEST_CASE("call: errors") {
  const auto error = [](const char* call) {
    Builder builder;
    try {
      parse_graph(with_call(call), builder);
    } catch (const Error& e) {
      CHECK(e.kind() == ErrorKind::kInvalid);
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(error("call %x, body=square"),
             ContainsSubstring("expected 1 params in its body graph, got 2"));
  CHECK_THAT(error("call %i, %x, body=square"),
             ContainsSubstring("expected param 0 of its body graph to be i32[2], got f32[2]"));
  CHECK_THAT(error("call %x, %i, body=square, result=2"),
             ContainsSubstring("expected a result below 2, got 2"));
  CHECK_THAT(error("call %x, %i, body=cube"),
             ContainsSubstring("expected a graph defined above, got \"cube\""));
  CHECK_THAT(error("call %x, %i, body=square, gradient=square"),
             ContainsSubstring("expected 6 params in its gradient graph, got 2"));
  CHECK_THAT(error("call %x, %i, body=square, gradient=adjoint, stop=true"),
             ContainsSubstring("got both"));
  CHECK_THAT(error("call %x, %i, body=square, stop=maybe"), ContainsSubstring("false"));
}

TEST_CASE("call: inlining leaves the same nodes as writing them out") {
  Builder builder;
  const Graph called = parse_graph(R"(graph g(%x: f32[2], %n: i64[]) {
    graph twice(%a: f32[2]) {
      graph square(%a: f32[2]) {
        %y = mul %a, %a
        return %y
      }
      %p = call %a, body=square
      %q = call %p, body=square
      return %q
    }
    graph body(%i: i64[], %c: f32[2]) {
      graph negated(%a: f32[2]) {
        %y = neg %a
        return %y
      }
      %d = call %c, body=negated
      return %d
    }
    %t = call %x, body=twice
    %l = loop %n, %t, body=body, carried=1
    return %l
  })",
                                   builder);
  const Graph written = parse_graph(R"(graph g(%x: f32[2], %n: i64[]) {
    graph body(%i: i64[], %c: f32[2]) {
      %d = neg %c
      return %d
    }
    %p = mul %x, %x
    %q = mul %p, %p
    %l = loop %n, %q, body=body, carried=1
    return %l
  })",
                                    builder);
  CHECK(has_calls(called));
  CHECK_FALSE(has_calls(written));
  const Graph inlined = inline_calls(called, builder);
  CHECK_FALSE(has_calls(inlined));
  verify(inlined);
  CHECK(same_structure(inlined, written));
}

TEST_CASE("call: calls in calls may not grow without end") {
  // Each level calls the one below four times: 4^14 nodes.
  std::string text = "graph g(%x: f32[]) {\n";
  for (int level = 0; level < 14; ++level) text += "graph f(%x: f32[]) {\n";
  text += "%y = sin %x\nreturn %y\n}\n";
  for (int level = 0; level < 14; ++level) {
    text += "%a = call %x, body=f\n%b = call %a, body=f\n%c = call %b, body=f\n";
    text += "%d = call %c, body=f\nreturn %d\n}\n";
  }
  Builder builder;
  CHECK_THROWS_WITH(parse_graph(text, builder), ContainsSubstring("once its calls are inlined") ||
                                                    ContainsSubstring("calls are inlined"));
}

}  // namespace
}  // namespace tenon
