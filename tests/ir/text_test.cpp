// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form as people write it, and the errors they get.
#include "core/ir/text/text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/support/error.hpp"

namespace tenon {
namespace {

using Catch::Matchers::StartsWith;

std::string round_trip(std::string_view text) {
  Builder b;
  return print(parse_graph(text, b));
}

std::string error_of(std::string_view text) {
  Builder b;
  try {
    parse_graph(text, b, "t.tn");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kInvalid);
    return error.what();
  }
  return "no error";
}

TEST_CASE("the golden graphs parse and round trip") {
  int count = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(TENON_SOURCE_DIR "/tests/golden/in")) {
    if (file.path().extension() != ".tn") continue;
    std::ifstream in(file.path());
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    INFO(file.path());
    Builder a, b;
    const Graph graph = parse_graph(text, a, file.path().string());
    const std::string printed = print(graph);
    const Graph again = parse_graph(printed, b);
    CHECK(print(again) == printed);
    CHECK(same_structure(graph, again));
    ++count;
  }
  CHECK(count >= 5);
}

TEST_CASE("a graph prints with a type on each line") {
  CHECK(
      round_trip("graph softmax(%x: f32[n,10]) where 1<=n<=4096 { # rows\n"
                 "%m=reduce.max %x,axes=[1] %e = expand %m : [n, 10] %d = sub %x, %e\n"
                 "%h = cast %d : f16 %y = pad %h, pairs=[(0,1),(2,0)] return %y, %m, total=%e}") ==
      "graph softmax(%x: f32[n, 10]) where 1 <= n <= 4096 {\n"
      "  %m = reduce.max %x, axes=[1]               : f32[n, 1]\n"
      "  %total = expand %m                         : f32[n, 10]\n"
      "  %0 = sub %x, %total                        : f32[n, 10]\n"
      "  %1 = cast %0                               : f16[n, 10]\n"
      "  %y = pad %1, pairs=[(0,1),(2,0)], fill=0.0 : f16[n + 1, 12]\n"
      "  return %y, %m, %total\n"
      "}\n");
}

TEST_CASE("every statement by hand") {
  const char* text =
      R"(graph all(%x: f32[n, 4], %i: i32[n, 4], %c: bool[], %k: i64[]) where 1 <= n <= 9 {
  %a = const 0x1.8p1 : f32[n, 4]
  %b = const nan(0x7fc01234) : f32[n, 4]
  %e = const -inf : f32[n, 4]
  %f = index axis=1 : i32[n, 4]
  %g = dim n*2 + min(n, 3)
  %h = cast %x : f16[..]
  %j = bitcast %x : i32
  %l = add %a, %b
  %m = cmplt %l, %e
  %o = where %m, %x, %a
  %p = fma %x, %a, %o
  %q = reshape %p : f32[4, n]
  %r = permute %q, axes=[1,0]
  %s = shrink %r, ranges=[(0,n),(1,3)]
  %t = flip %s, axes=[0]
  %u = reduce.add %h, axes=[0,1], acc=f64, matmul=tf32
  %v = take %x, %f, axis=0
  %w = store.add %x, %i, %v, axis=1
  %y = copy %w, device="cpu:0"
  %z = store %y, %f, %x, axis=0
  return %z, "odd \"name\"\x0a"=%t, %u, %j, %g
})";
  const std::string printed = round_trip(text);
  CHECK(round_trip(printed) == printed);
  for (const char* line :
       {"= const 3.0", "= const nan(0x7fc01234)", "= const -inf", "= index axis=1",
        "%g = dim n*2 + min(3, n)", "acc=f64, matmul=tf32", "device=\"cpu:0\"",
        "store.add %x, %i, ", "ranges=[(0,n),(1,3)]", "\"odd \\\"name\\\"\\x0a\"=%"}) {
    INFO(line << " in\n" << printed);
    CHECK(printed.find(line) != std::string::npos);
  }
}

TEST_CASE("params keep odd, empty and repeated names") {
  const std::string text =
      "graph \"my graph\"(%p \"\": f32[2], %x: f32[2], %x_1 \"x\": f32[2], %p_1 \"a b\": f32[2]) "
      "{\n"
      "  return \"\"=%x, %p, %x_1\n"
      "}\n";
  Builder b;
  const Graph graph = parse_graph(text, b);
  CHECK(graph.params[1] != graph.params[2]);
  CHECK(graph.params[2]->as<ParamAttr>().name == "x");
  CHECK(graph.output_names == std::vector<std::string>{"", "p", "x_1"});
  CHECK(print(graph) == text);
}

TEST_CASE("errors name file, line and column") {
  const auto in = [](const std::string& body) {
    return error_of("graph g(%x: f32[n, 4]) where 1 <= n <= 9 {\n" + body + "\n  return %x\n}");
  };
  CHECK(in("  %y = nag %x") == "t.tn:2:8: expected an op of graphs, got \"nag\"");
  CHECK(in("  %y = neg %z") == "t.tn:2:12: expected a value defined above, got \"%z\"");
  CHECK(in("  %x = neg %x") == "t.tn:2:3: expected each value once, got %x twice");
  CHECK(in("  %y = add %x") == "t.tn:2:8: [add] expected 2 operands, got 1");
  CHECK_THAT(in("  %y = neg %x : f32[4, n]"),
             StartsWith("t.tn:2:17: expected type f32[n, 4], got f32[4, n]"));
  CHECK(in("  %y = const 1.5 : i32[]") == "t.tn:2:14: expected a value of i32, got \"1.5\"");
  CHECK(in("  %y = const 1.5") ==
        "t.tn:3:3: expected ': ' and a type like f32[4, n], got \"return\"");
  CHECK_THAT(in("  %y = const 1.5 : f32[k]"),
             StartsWith("t.tn:2:24: expected a symbol with bounds"));
  CHECK_THAT(in("  %y = const 1.5 : f32[n//0]"),
             StartsWith("t.tn:2:24: [expr] expected a divisor"));
  CHECK(in("  %y = const 1 : f33[]") == "t.tn:2:18: expected a dtype, got \"f33\"");
  CHECK(in("  %y = reduce.max %x, axis=1") == "t.tn:2:23: expected 'axes', got \"axis\"");
  CHECK_THAT(in("  %y = reduce.sub %x, axes=[1]"),
             StartsWith("t.tn:2:8: [reduce] expected add, mul"));
  CHECK_THAT(in("  %y = barrier %x"), StartsWith("t.tn:2:8: expected an op of graphs"));
  CHECK_THAT(in("  %y = if %x, then=a, else=b"),
             StartsWith("t.tn:2:20: expected a graph defined above"));
  CHECK(error_of("") == "t.tn:1:1: expected 'graph', got the end of the text");
  CHECK_THAT(error_of("graph g(%x: f32[2]"),
             StartsWith("t.tn:1:19: expected ')' after the params"));
  CHECK_THAT(error_of("graph g() where 5 <= n <= 1 {return}"),
             StartsWith("t.tn:1:22: expected a lower"));
  CHECK_THAT(error_of("graph g() where 0 <= min <= 1 {return}"),
             StartsWith("t.tn:1:22: expected a symbol"));
  CHECK_THAT(error_of("graph g() {return} x"),
             StartsWith("t.tn:1:20: expected the end of the text"));
  CHECK_THAT(error_of("graph \"a\n\"() {return}"), StartsWith("t.tn:1:7: expected quoted text"));
}

TEST_CASE("limits hold against hostile text") {
  std::string deep = "graph g(%x: f32[";
  deep += std::string(100000, '(') + "1" + std::string(100000, ')') + "]) {return}";
  CHECK_THAT(error_of(deep), StartsWith("t.tn:1:"));
  std::string nested;
  for (int i = 0; i < 5000; ++i) nested += "graph g() {";
  CHECK_THAT(error_of(nested), StartsWith("t.tn:1:"));
  std::string minus = "graph g(%x: f32[" + std::string(100000, '-') + "1]) {return}";
  CHECK(error_of(minus) == "no error");
  std::string ranks = "graph g(%x: f32[1";
  for (int i = 0; i < 40; ++i) ranks += ",1";
  CHECK(error_of(ranks + "]) {return}").find("at most 16 axes") != std::string::npos);
  CHECK_THAT(error_of("graph " + std::string(300, 'a') + "() {return}"),
             StartsWith("t.tn:1:7: expected a name of at most 256 bytes"));
  std::string huge = "graph g(%x: f32[n";
  for (int i = 0; i < 50; ++i) huge += "*n";
  CHECK_THAT(error_of(huge + "]) where 1 <= n <= 100 {return}"), StartsWith("t.tn:1:17: [expr]"));
}

}  // namespace
}  // namespace tenon
