// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrite rules of an application: refused rules with their messages, and rewritten graphs.
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "core/ir/text/text.hpp"
#include "core/runtime/check_rules.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

std::string refusal(const std::string& text) {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message = error_of([&] { with_rules({}, text, "r"); }, &kind);
  CHECK((message.empty() || kind == ErrorKind::kInvalid));
  return message;
}

NodeRef rewritten(Builder& builder, const std::string& rules, const NodeRef& output) {
  Graph graph;
  graph.outputs = {output};
  graph.output_names = {""};
  return rewrite::run_bounded(graph, with_rules({}, rules, "r"), builder).outputs[0];
}

constexpr const char* kExpLn = R"(graph f(%x: f32[4, 6]) {
  %e = exp %x
  %l = ln %e
  return %l
})";

/// What a Runtime computes.
Array run(Runtime& runtime, const std::string& text, const Array& input,
          RunStats* stats = nullptr) {
  return runtime.run(parse_graph(text, runtime.builder()), {input}, {}, "", stats)[0];
}

}  // namespace

TEST_CASE("text that is no rule is refused with its place") {
  const std::pair<const char*, const char*> wrong[] = {
      {"add(x, 0) -> x", "r:1:4: expected ':'"},
      {"a: add(x, 0)", "r:1:13: expected '->', got the end"},
      {"# comment\na: add(x, 0) -> y", "r:2:17: expected variables of the left side (x), got 'y'"},
      {"a: adds(x, 0) -> x", "r:1:4: expected an elementwise op, a variable"},
      {"a: reduce(x) -> x", "r:1:4: expected an elementwise op"},
      {"a: cast(x) -> x", "r:1:4: expected an elementwise op"},
      {"a: add(x) -> x", "r:1:4: expected 2 operands of add, got 1"},
      {"a: add(x, 0 -> x", "expected ')'"},
      {"a: x -> add(x, 0)", "r:1:4: expected an op on the left side"},
      {"a: add(1, 2) -> 3", "r:1:4: expected a variable on the left side"},
      {"a: add(x, 0) -> x where i99", "r:1:25: expected a dtype, int or float, got \"i99\""},
      {"a: add(x, 0) -> x or so", "r:1:19: expected 'where', 'approximate' or the end of the line"},
      {"a: where(cmplt(1, 2), x, y) -> y", "expected a variable that tells the dtype of 1"},
      {"a: add(X, 0) -> X", "a variable (one lower-case letter) or a number, got \"X\""},
  };
  for (const auto& [text, message] : wrong) {
    const std::string got = refusal(text);
    INFO(text << "\n" << got);
    CHECK(has(got, message));
  }
  std::string deep = "a: ";
  for (int i = 0; i < 100000; ++i) deep += "neg(";
  CHECK(has(refusal(deep + "x"), "expected at most 64 ops in each other"));
}

TEST_CASE("sides that differ are refused with the values") {
  const std::pair<const char*, const char*> wrong[] = {
      {"halves: fdiv(mul(x, 2), 2) -> x",
       "r:1: expected equal sides of 'halves', got for f16 with x = "},
      {"zero: add(x, 0.0) -> x where f32", "for f32 with x = -0.0: left 0.0, right -0.0"},
      {"nan: mul(x, 0) -> 0 where f32", "for f32 with x = -0.0: left -0.0, right 0.0"},
      {"order: sub(x, y) -> sub(y, x) where i32", "for i32 with x = "},
      {"shift: idiv(x, 2) -> shr(x, 1) where int", "with x = -1: left 0, right -1"},
      {"sum: add(add(x, y), z) -> add(x, add(y, z)) where f64", "for f64 with x = "},
      {"clip: min(max(x, 0), 6) -> min(max(x, 0), 7)", "left 6"},
      {"strict: where(cmplt(x, y), x, y) -> min(x, y) where f32", "for f32 with x = "},
      {"less: cmplt(x, 100) -> cmplt(x, 101) where i64", "with x = 100: left false, right true"},
      {"root: sqrt(mul(x, x)) -> x where f64", "for f64 with x = -"},
      {"logs: ln(exp(x)) -> x where f32", "for f32 with x = "},
  };
  for (const auto& [text, message] : wrong) {
    const std::string got = refusal(text);
    INFO(text << "\n" << got);
    CHECK(has(got, message));
  }
}

TEST_CASE("what is approximate is not compared") {
  CHECK(refusal("logs: ln(exp(x)) -> x where f32 approximate").empty());
  CHECK(refusal("wrong: sin(x) -> exp(x) approximate").empty());
  CHECK(has(refusal("wrong: sin(x) -> exp(x)"), "expected equal sides of 'wrong', got for f16"));
}

TEST_CASE("rules that hold are taken, in the dtypes that they fit") {
  for (const char* text : {
           "a: neg(neg(x)) -> x",
           "a: max(x, max(x, y)) -> max(x, y)",
           "a: idiv(mul(x, 0), y) -> 0",
           "a: where(c, where(c, x, y), z) -> where(c, x, z)",
           "a: where(cmplt(x, y), z, z) -> z",
           "\"two words\": xor(xor(x, y), y) -> x where int, bool",
           "a: max(x, x) -> fdiv(x, 1)",
           "a: and(cmplt(x, y), cmplt(y, x)) -> false",
           "a: mul(x, -1) -> neg(x) where i32, f64",
           "a: shl(shl(x, 1), 1) -> shl(x, 2) where i32",
           "# nothing\n\n",
       }) {
    INFO(text);
    CHECK(refusal(text).empty());
  }
  CHECK(has(refusal("a: max(x, x) -> fdiv(x, 1) where int, bool"),
            "r:1: expected a dtype that 'a' fits, got none: [fdiv] expected a float dtype"));
  CHECK(has(refusal("a: max(x, 0.5) -> max(0.5, x) where i32"),
            "expected a dtype that 'a' fits, got none: [rules] expected a number of i32, got 0.5"));
  CHECK(has(refusal("a: max(x, 300) -> 300 where i8"), "expected a number of i8, got 300"));
  CHECK(has(refusal("a: sqrt(x) -> x where int"), "[sqrt] expected a float dtype"));
  CHECK(has(refusal("a: neg(neg(x)) -> x\na: max(x, x) -> x"),
            "r:2: expected a new name, got 'a' again"));
}

TEST_CASE("rules that do not come to an end are refused by name") {
  CHECK(has(refusal("turn: add(x, y) -> add(y, x)"), "most; got 'turn' once more"));
  CHECK(has(
      refusal("there: add(x, x) -> mul(x, 2) where i32\nback: mul(x, 2) -> add(x, x) where i32"),
      "most; got '"));
  CHECK(has(refusal("grow: max(x, y) -> max(max(x, y), max(y, x))"), "most; got 'grow'"));
  CHECK(has(refusal("in: exp(x) -> exp(neg(neg(x)))"), "most; got 'in'"));
  // Nothing that they are tried on shows it: only a graph does.
  const rewrite::Rules rules = with_rules({}, "in: exp(neg(x)) -> recip(exp(x)) approximate", "r");
  Builder builder;
  NodeRef x = builder.param("x", DType::kF32, {});
  for (int i = 0; i < 100; ++i) x = builder.unary(Op::NEG, x);
  Graph graph;
  graph.outputs = {builder.unary(Op::EXP, x)};
  graph.output_names = {""};
  CHECK(has(error_of([&] { rewrite::run_bounded(graph, rules, builder); }), "got 'in'"));
}

TEST_CASE("numbers take the dtype of their place") {
  Builder b;
  const NodeRef x = b.param("x", DType::kI32, {}), y = b.param("y", DType::kI32, {});
  const NodeRef p = b.param("p", DType::kF32, {});
  const auto k = [&](int64_t v) { return b.constant(Scalar::of_int(DType::kI32, v)); };
  const std::string rules = R"(
    odd: cmpne(mul(x, 2), 0) -> cmpne(x, 0) where int approximate
    sign: cmplt(sub(x, y), 0) -> cmplt(x, y) approximate
    pick: where(cmplt(x, y), p, q) -> where(cmpeq(sub(x, y), 1), q, p) where float approximate
  )";
  CHECK(rewritten(b, rules, b.binary(Op::CMPNE, b.binary(Op::MUL, x, k(2)), k(0))) ==
        b.binary(Op::CMPNE, x, k(0)));
  // Commutative operands are found in either order; another number is not.
  CHECK(rewritten(b, rules, b.binary(Op::CMPNE, k(0), b.binary(Op::MUL, k(2), x))) ==
        b.binary(Op::CMPNE, x, k(0)));
  const NodeRef other = b.binary(Op::CMPNE, b.binary(Op::MUL, x, k(3)), k(0));
  CHECK(rewritten(b, rules, other) == other);
  CHECK(rewritten(b, rules, b.binary(Op::CMPLT, b.binary(Op::SUB, x, y), k(0))) ==
        b.binary(Op::CMPLT, x, y));
  const NodeRef q = b.param("q", DType::kF32, {});
  CHECK(rewritten(b, rules, b.where(b.binary(Op::CMPLT, x, y), p, q)) ==
        b.where(b.binary(Op::CMPEQ, b.binary(Op::SUB, x, y), k(1)), q, p));
  const NodeRef zero = b.binary(Op::MUL, x, k(0));
  for (const char* number : {"1e300", "inf", "nan", "0.5"})
    CHECK(rewritten(b, fmt::format("n: mul(x, {}) -> x where f64 approximate", number), zero) ==
          zero);
  const NodeRef whole = b.where(b.binary(Op::CMPLT, x, y), x, y);  // not float
  CHECK(rewritten(b, rules, whole) == whole);
}

TEST_CASE("a context's rules change its graphs and nobody else's") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    Runtime runtime(options_for(backend, backend)), other(options_for(backend, backend));
    const Array input = numbers(DType::kF32, {4, 6});
    RunStats stats;
    const Array before = run(runtime, kExpLn, input, &stats);
    run(runtime, kExpLn, input, &stats);
    CHECK(stats.plan_cached);
    runtime.add_rules("logs: ln(exp(x)) -> add(x, 1) where float approximate", "mine");
    const Array after = run(runtime, kExpLn, input, &stats);
    CHECK(!stats.plan_cached);  // the old plan is of no use
    for (int64_t i = 0; i < input.count(); ++i)
      CHECK(after.at(i).as_double() == input.at(i).as_double() + 1);
    CHECK(run(runtime, kExpLn, input, &stats) == after);
    CHECK(stats.plan_cached);
    CHECK(run(other, kExpLn, input) == before);
    // What is refused leaves everything as it was.
    CHECK(has(error_of([&] {
                runtime.add_rules("b: neg(neg(x)) -> x\nlogs: ln(exp(x)) -> x approximate", "mine");
              }),
              "mine:2: expected a new name, got 'logs' again"));
    CHECK(run(runtime, kExpLn, input, &stats) == after);
    CHECK(stats.plan_cached);
    runtime.add_rules("b: neg(neg(x)) -> x", "mine");
  }
}

TEST_CASE("rules may be added while others run") {
  Runtime runtime(options_for(backends().back(), backends().back()));
  const Array input = numbers(DType::kF32, {4, 6});
  const Array plain = run(runtime, kExpLn, input);
  Array doubled = input;
  for (int64_t i = 0; i < input.count(); ++i)
    doubled.set(i, Scalar::of(DType::kF32, input.at(i).as_double() * 2));
  std::atomic<bool> ok{true}, stop{false};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      bool new_one = false;
      while (!stop) {
        const Array got = run(runtime, kExpLn, input);
        // Once the rule was there it stays.
        ok = ok && (got == doubled || (got == plain && !new_one));
        new_one = new_one || got == doubled;
      }
    });
  for (int i = 0; i < 10; ++i) {
    if (i == 5) runtime.add_rules("logs: ln(exp(x)) -> mul(x, 2) where f32 approximate", "r");
    runtime.add_rules(fmt::format("n{}: xor(x, x) -> 0 where int", i), "r");
  }
  CHECK(run(runtime, kExpLn, input) == doubled);
  stop = true;
  threads.clear();
  CHECK(ok);
}
