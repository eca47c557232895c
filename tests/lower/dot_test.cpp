// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops bound to dot: dot-product instructions agree with the reference, edges and
// signs included.
#include <fmt/format.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/support/error.hpp"
#include "sdk/program/text.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Dtypes {
  std::string x, y, sum;
};
const Dtypes kBf16{"bf16", "bf16", "f32"}, kSigned{"i8", "i8", "i32"}, kMixed{"u8", "i8", "i32"};

/// [m, k] x [k, n], or operands that are stored the other way round.
Case dot_product(const Dtypes& t, int m, int k, int n, bool x_turned = false, bool y_turned = false,
                 const std::string& how = "") {
  const auto operand = [&](const char* name, bool turned, const std::string& shape) {
    const std::string first =
        turned ? fmt::format("  %{0}0 = permute %{0}, axes=[1, 0]\n  %{0}1 = cast %{0}0 : {1}\n",
                             name, t.sum)
               : fmt::format("  %{0}1 = cast %{0} : {1}\n", name, t.sum);
    return first + fmt::format(
                       "  %{0}2 = reshape %{0}1 : {1}\n  %{0}3 = expand %{0}2 : "
                       "[{2}, {3}, {4}]\n",
                       name, shape, m, k, n);
  };
  const auto shape = [](bool turned, int rows, int columns) {
    return turned ? fmt::format("[{}, {}]", columns, rows) : fmt::format("[{}, {}]", rows, columns);
  };
  Case c;
  c.graph = fmt::format("graph g(%x: {}{}, %y: {}{}) {{\n", t.x, shape(x_turned, m, k), t.y,
                        shape(y_turned, k, n)) +
            operand("x", x_turned, fmt::format("[{}, {}, 1]", m, k)) +
            operand("y", y_turned, fmt::format("[1, {}, {}]", k, n)) +
            fmt::format(
                "  %p = mul %x3, %y3\n  %s = reduce.add %p, axes=[1]{}\n"
                "  %r = reshape %s : [{}, {}]\n  return %r\n}}",
                how, m, n);
  c.high = t.sum == "f32" ? 5 : 120;
  return c;
}

std::string lowered_dot(const Case& c, const std::string& transforms, bool by_templates = false,
                        const Capabilities& capabilities = dots_like()) {
  Builder builder;
  return sdk::print_program(
      lower(parse_graph(c.graph, builder), capabilities, transforms, by_templates).program.view());
}

size_t dots_in(const std::string& text) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(" = dot ", at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace

TEST_CASE("a panel with neighbours side by side feeds one dot product a lane") {
  const std::string list =
      "split r0 2; split a1 8; reorder a1.o a0; unroll a0; vectorize a1.i; "
      "stage b1 at a1.o inner r0.i; dot r0.i";
  const Case even = dot_product(kBf16, 3, 6, 16);
  CHECK(dots_in(lowered_dot(even, list)) == 3);
  CHECK(difference(even, dots_like(), list, false) == "");
  // What is not whole is added one by one: the last of odd sums, and nothing of unreal columns.
  CHECK(difference(dot_product(kBf16, 3, 7, 13), dots_like(), list, false) == "");
}

TEST_CASE("signed by signed is biased, and what that adds is taken away once a column") {
  const std::string list =
      "split r0 4; split a1 8; reorder a1.o a0; unroll a0; vectorize a1.i; "
      "stage b1 at a1.o inner r0.i; dot r0.i";
  CHECK(dots_in(lowered_dot(dot_product(kSigned, 5, 12, 16), list)) == 6);
  CHECK(dots_in(lowered_dot(dot_product(kMixed, 5, 12, 16), list)) == 5);
  for (const Dtypes& t : {kSigned, kMixed, Dtypes{"i8", "u8", "i32"}})
    for (const int k : {12, 13, 3})
      CHECK(difference(dot_product(t, 5, k, 19), dots_like(), list, false) == "");
  // Sums of several partial ones, no lanes, and lanes along the sum.
  for (const char* other :
       {"split r0 4; split r0.o 2; unroll r0.o.i; split a1 8; reorder a1.o a0; vectorize a1.i; "
        "stage b1 at a1.o inner r0.i; dot r0.i",
        "split r0 4; unroll a1; stage b1 at a0 inner r0.i; dot r0.i"})
    CHECK(difference(dot_product(kSigned, 5, 16, 16), dots_like(), other, false) == "");
  const char* along = "split r0 16; split r0.i 4; vectorize r0.i.o; unroll a1; dot r0.i.i";
  for (const int k : {32, 35}) {
    const Case turned = dot_product(kSigned, 3, k, 4, false, true);
    CHECK(dots_in(lowered_dot(turned, along)) == 5);
    CHECK(difference(turned, dots_like(), along, false) == "");
  }
}

TEST_CASE("rules take dot products in every layout") {
  for (const Dtypes& t : {kBf16, kSigned, kMixed})
    for (const bool x_turned : {false, true})
      for (const bool y_turned : {false, true})
        for (const auto& [m, k, n] : {std::array{40, 64, 48}, std::array{37, 51, 45}}) {
          const Case c = dot_product(t, m, k, n, x_turned, y_turned);
          INFO(c.graph);
          CHECK(dots_in(lowered_dot(c, "", true)) > 0);
          CHECK(dots_in(lowered_dot(c, "", true, cpu_like())) == 0);
          CHECK(difference(c, dots_like(), "", true) == "");
        }
  const Case few = dot_product(kBf16, 3, 256, 40, false, true);
  CHECK(dots_in(lowered_dot(few, "", true)) > 0);
  CHECK(difference(few, dots_like(), "", true) == "");
}

TEST_CASE("a dot product that flushes is not taken where products are exact") {
  const Case exact = dot_product(kBf16, 40, 64, 48, false, false, ", matmul=exact");
  CHECK(dots_in(lowered_dot(exact, "", true)) == 0);
  Capabilities keeps = dots_like();
  keeps.dots[0].flushes = false;
  CHECK(dots_in(lowered_dot(exact, "", true, keeps)) > 0);
  Capabilities flushes = dots_like();
  flushes.numerics = kFlushInput | kFlushOutput;
  CHECK(dots_in(lowered_dot(exact, "", true, flushes)) > 0);
}

TEST_CASE("dot is refused with what was expected") {
  const Case c = dot_product(kBf16, 8, 12, 16);
  const std::pair<const char*, const char*> bad[] = {
      {"dot a1", "expected a reduce axis, got a1"},
      {"dot r0", "expected 2, 4, 8 or 16 elements"},
      {"split r0 4; split r0.i 2; dot r0.i.o", "expected the step alone inside r0.i.o"},
      {"split r0 2; dot r0.i", "expected contiguous elements along r0.i"},
      {"split r0 2; unroll a1; stage b1 at a0; dot r0.i", "contiguous elements along r0.i"},
      {"split r0 2; stage b1 at a0 inner r0.i; dot r0.i; reorder r0.i r0.o", "the step alone"},
      {"split r0 2; split a1 4; reorder a0 a1.i a1.o; vectorize a1.o; stage b1 at a0 inner r0.i; "
       "split r0.o 3; dot r0.i; split r0.i 1",
       "not to be bound yet, got dot"},
      {"stage b1 at a0 inner a0", "expected a loop that the tile depends on, got a0"},
  };
  for (const auto& [list, message] : bad) {
    INFO(list);
    CHECK_THROWS_WITH(lowered_dot(c, list), ContainsSubstring(message));
  }
  CHECK_THROWS_WITH(lowered_dot(dot_product({"f32", "f32", "f32"}, 8, 12, 16),
                                "split r0 2; stage b1 at a0 inner r0.i; dot r0.i"),
                    ContainsSubstring("expected a sum of products of two narrower loads"));
  CHECK_THROWS_WITH(lowered_dot(c, "split r0 4; stage b1 at a0 inner r0.i; dot r0.i"),
                    ContainsSubstring("expected a dot product of 4 elements to f32"));
}

TEST_CASE("a dot product in the terms of another sum is that of the inner one") {
  Case c;
  c.graph = R"(graph sums(%x: bf16[24, 2], %y: bf16[30, 2], %z: bf16[24, 2]) {
  %x0 = cast %x : f32
  %x1 = reshape %x0 : [24, 1, 2]
  %x2 = expand %x1 : [24, 30, 2]
  %y0 = cast %y : f32
  %y1 = reshape %y0 : [1, 30, 2]
  %y2 = expand %y1 : [24, 30, 2]
  %p = mul %x2, %y2
  %s = reduce.add %p, axes=[2]
  %e = exp2 %s
  %e1 = expand %e : [24, 30, 2]
  %z0 = cast %z : f32
  %z1 = reshape %z0 : [24, 1, 2]
  %z2 = expand %z1 : [24, 30, 2]
  %q = mul %e1, %z2
  %r = reduce.add %q, axes=[0]
  return %r
})";
  c.tolerance = 1e-6;
  for (const char* list : {"dot r1", "split r0 2; dot r1", "dot r1; precompute r0 8 at a0"}) {
    INFO(list);
    CHECK(dots_in(lowered_dot(c, list)) == 1);
    CHECK(difference(c, dots_like(), list, false) == "");
  }
}
