// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 64-bit integers on devices that have none: bounds of nodes, and what is computed in 32 bits.
#include <array>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/ir/text/text.hpp"
#include "core/reference/reference.hpp"
#include "core/rewrite/passes.hpp"
#include "core/rewrite/value_range.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

using Devices = std::array<const Capabilities*, 1>;

/// 32-bit numbers and bool.
Capabilities without_wide_integers() {
  Capabilities c;
  c.index_bits = 32;
  for (const DType dtype : {DType::kBool, DType::kI32, DType::kU32, DType::kF32})
    c.dtypes[static_cast<size_t>(dtype)] = {.storage = true, .arithmetic = true};
  return c;
}

bool has_wide(const Graph& graph) {
  for (const NodeRef& node : topological(graph.outputs))
    if (node->dtype == DType::kI64 || node->dtype == DType::kU64) return true;
  return false;
}

Array numbers(std::vector<int64_t> shape) {
  Array array = Array::zeros(DType::kF32, std::move(shape));
  for (int64_t i = 0; i < array.count(); ++i)
    array.set(i, Scalar::of(DType::kF32, static_cast<double>(i * 37 % 11)));
  return array;
}

}  // namespace

TEST_CASE("what is computed from positions needs no 64 bits") {
  const Capabilities caps = without_wide_integers();
  for (const char* text : {
           // the position of the largest element of a row
           R"(graph argmax(%x: f32[4, 9]) {
             %i = index axis=1 : i64[4, 9]
             %m = reduce.max %x, axes=[1] : f32[4, 1]
             %e = expand %m : f32[4, 9]
             %is = cmpeq %x, %e : bool[4, 9]
             %n = const 9 : i64[4, 9]
             %z = const 0 : i64[4, 9]
             %left = sub %n, %i : i64[4, 9]
             %w = where %is, %left, %z : i64[4, 9]
             %best = reduce.max %w, axes=[1] : i64[4, 1]
             %y = cast %best : i32[4, 1]
             return %y })",
           // a gather by computed positions, and a bound that 32 bits do not hold
           R"(graph gather(%x: f32[4, 9]) {
             %i = index axis=1 : i64[4, 9]
             %two = const 2 : i64[4, 9]
             %far = const 5000000000 : i64[4, 9]
             %j = mul %i, %two : i64[4, 9]
             %t = take %x, %j, axis=1 : f32[4, 9]
             %low = cmplt %j, %far : bool[4, 9]
             %z = const 0.0 : f32[4, 9]
             %y = where %low, %t, %z : f32[4, 9]
             return %y })",
           R"(graph counter(%x: f32[4, 9]) {
             %i = index axis=1 : u64[4, 9]
             %s = const 32 : u64[4, 9]
             %h = shr %i, %s : u64[4, 9]
             %p = pad %h, pairs=[(1, 0), (0, 0)], fill=7 : u64[5, 9]
             %y = cast %p : f32[5, 9]
             return %y })",
       }) {
    Builder builder;
    const Graph graph = parse_graph(text, builder);
    const Graph made = simplify_for(graph, Devices{&caps}, builder);
    INFO(text << print(made));
    CHECK(!has_wide(made));
    CHECK_NOTHROW(legalise(made, caps, builder));
    const std::vector<Array> inputs = {numbers({4, 9})};
    CHECK(evaluate(made, inputs, {}) == evaluate(graph, inputs, {}));
  }
}

TEST_CASE("a device with 64-bit integers keeps them") {
  Capabilities caps = without_wide_integers();
  for (const DType dtype : {DType::kI64, DType::kU64})
    caps.dtypes[static_cast<size_t>(dtype)] = {.storage = true, .arithmetic = true};
  Builder builder;
  const Graph graph = parse_graph(
      "graph g(%x: f32[9]) {\n%i = index axis=0 : i64[9]\n%y = cast %i : f32[9]\nreturn %y }",
      builder);
  CHECK(has_wide(simplify_for(graph, Devices{&caps}, builder)));
}

TEST_CASE("what may be beyond 32 bits, and what memory holds in 64, stays as it is") {
  const Capabilities caps = without_wide_integers();
  const auto legal = [&](const char* text) {
    Builder builder;
    return legalise(simplify_for(parse_graph(text, builder), Devices{&caps}, builder), caps,
                    builder);
  };
  CHECK(has_wide(legal(R"(graph g(%x: f32[70000]) {
    %i = index axis=0 : i64[70000]
    %s = mul %i, %i : i64[70000]
    %y = cast %s : f32[70000]
    return %y })")));
  CHECK(has_wide(legal("graph g(%x: i64[3]) {\n%y = cast %x : f32[3]\nreturn %y }")));
  CHECK_THROWS_MATCHES(legal("graph g(%x: f64[3]) {\n%y = add %x, %x : f64[3]\nreturn %y }"), Error,
                       MessageMatches(ContainsSubstring("f64")));
  Capabilities none = caps;  // without 32-bit integers there is nothing to make pairs of
  none.dtypes[static_cast<size_t>(DType::kU32)] = {};
  Builder builder;
  const Graph wide =
      parse_graph("graph g(%x: i64[3]) {\n%y = add %x, %x : i64[3]\nreturn %y }", builder);
  CHECK_THROWS_MATCHES(legalise(wide, none, builder), Error,
                       MessageMatches(ContainsSubstring("stores i64")));
}

TEST_CASE("bounds of integer nodes") {
  Builder builder;
  rewrite::Ranges ranges;
  const NodeRef i = builder.index(0, {Dim(10)}, DType::kI32);
  const NodeRef x = builder.param("x", DType::kI8, {Dim(10)});
  const auto number = [&](int64_t v) {
    return builder.constant(Scalar::of_int(DType::kI32, v), {Dim(10)});
  };
  const auto check = [&](const NodeRef& node, double low, double high) {
    const rewrite::Range range = ranges.of(node);
    CHECK(range.known);
    CHECK(range.low == low);
    CHECK(range.high == high);
  };
  check(i, 0, 9);
  check(x, -128, 127);
  check(builder.binary(Op::SUB, number(3), i), -6, 3);
  check(builder.binary(Op::MUL, i, number(-5)), -45, 0);
  check(builder.binary(Op::MOD, builder.cast(x, DType::kI32), number(10)), -9, 9);
  check(builder.binary(Op::IDIV, builder.cast(x, DType::kI32), number(-1)), -128, 128);
  check(builder.binary(Op::AND, builder.cast(x, DType::kI32), number(15)), 0, 15);
  check(builder.binary(Op::ADD, x, x), -128, 127);  // it wraps
  check(builder.reduce(Op::ADD, i, {0}), 0, 90);
  check(builder.binary(Op::SHL, i, number(4)), 0, 144);
  // Of no elements the largest is the lowest number there is.
  const Dim n = Expr::symbol("n", 0, 10);
  check(builder.reduce(Op::MAX, builder.index(0, {n}, DType::kI32), {0}), -2147483648.0,
        2147483647.0);
}
