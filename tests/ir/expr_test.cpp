// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the simplifier must see through, and the interface of Expr.
#include "core/expr/expr.hpp"

#include <catch2/catch_test_macros.hpp>

#include "core/support/error.hpp"

namespace tenon {
namespace {

const Expr a = Expr::symbol("a", 0, 100), b = Expr::symbol("b", 0, 11), c = Expr::symbol("c", 0, 3);
const Expr d = Expr::symbol("d", 0, 5), x = Expr::symbol("x", 0, 1000),
           z = Expr::symbol("z", -50, 50);
const Expr n = Expr::symbol("n", 1, 4096), m = Expr::symbol("m", 1, 64);
const Expr i = Expr::symbol("i", m), j = Expr::symbol("j", n);

TEST_CASE("sums are canonical") {
  CHECK(a + b == b + a);
  CHECK((a + b) - b == a);
  CHECK(a + a == a * 2);
  CHECK((a + 1) * (b + 2) == a * b + a * 2 + b + 2);
  CHECK((a - a).is_const(0));
  CHECK(a * 0 == Expr(0));
  CHECK((a + b).hash() == (b + a).hash());
  CHECK_FALSE(a == b);
}

TEST_CASE("division and remainder by numbers") {
  CHECK(floor_div(a * 12 + b, 12) == a);
  CHECK(mod(a * 12 + b, 12) == b);
  CHECK(floor_div(a * 24 + d * 4 + c, 4) == a * 6 + d);
  CHECK(mod(a * 24 + d * 4 + c, 4) == c);
  CHECK(floor_div(a * 24 + d * 4 + c, 24) == a);
  CHECK(mod(a * 24 + d * 4 + c, 24) == d * 4 + c);
  CHECK(floor_div(floor_div(x, 3), 5) == floor_div(x, 15));
  CHECK(mod(mod(x, 12), 4) == mod(x, 4));
  CHECK(floor_div(mod(x, 12), 4) == mod(floor_div(x, 4), 3));
  CHECK(floor_div(x * 6, 4) == floor_div(x * 3, 2));
  CHECK(mod(x * 6, 4) == mod(x, 2) * 2);
  CHECK(floor_div(b, 12).is_const(0));
  CHECK(mod(b, 12) == b);
  CHECK(ceil_div(a * 4, 4) == a);
  CHECK(ceil_div(a * 4 + 1, 4) == a + 1);
  CHECK(floor_div(Expr(-7), 2).is_const(-4));
  CHECK(mod(Expr(-7), 2).is_const(1));
}

TEST_CASE("quotient and remainder join again") {
  CHECK(floor_div(x, 7) * 7 + mod(x, 7) == x);
  CHECK(floor_div(x, 12) * 12 + mod(floor_div(x, 4), 3) * 4 + mod(x, 4) == x);
  CHECK(mod(floor_div(x, 4), 3) * 4 + mod(x, 4) == mod(x, 12));
  CHECK(floor_div(x + z, 7) * 14 + mod(x + z, 7) * 2 == x * 2 + z * 2);
  CHECK(floor_div(x, n) * n + mod(x, n) == x);
  const Expr nested = floor_div(x, n * m) * (n * m) + mod(floor_div(x, n), m) * n + mod(x, n);
  CHECK(nested == x);
}

TEST_CASE("symbolic divisors, with indices that stay below their extent") {
  CHECK(floor_div(i * n + j, n) == i);
  CHECK(mod(i * n + j, n) == j);
  CHECK(floor_div(i * n + j, n * m).is_const(0));
  CHECK(mod(i * n + j, n * m) == i * n + j);
  CHECK(less(i * n + j, m * n).is_const(1));
  CHECK(less(j, n).is_const(1));
  CHECK(less(n, j).is_const(0));
  CHECK(less(n - 1 - j, n).is_const(1));
  CHECK(floor_div(n - 1 - j, n).is_const(0));
  CHECK(floor_div((n + 1) * m, n + 1) == m);
  CHECK(floor_div(n * m * 4, n * 4) == m);
  CHECK(floor_div((i * n + j) * 4 + c, n * 4) == i);
  CHECK(mod((i * n + j) * 4 + c, n * 4) == j * 4 + c);
  CHECK(floor_div(floor_div(x, n), m) == floor_div(x, n * m));
  CHECK(mod(mod(x, n * m), n) == mod(x, n));
  CHECK(floor_div(mod(x, n * m), n) == mod(floor_div(x, n), m));
}

TEST_CASE("comparisons are decided or made small") {
  CHECK(less(a, 101).is_const(1));
  CHECK(less(a, 0).is_const(0));
  CHECK(less(a * 4 + c, 8) == less(a, 2));
  CHECK(to_string(less(a * 4 + c, 8)) == "a < 2");
  CHECK(less(a * 3, 10) == less(a, 4));
  CHECK(less(a + b, b + 5) == less(a, 5));
  CHECK(equal(a * 2, 7).is_const(0));
  CHECK(equal(a, a).is_const(1));
  CHECK(equal(a * 4, b * 4) == equal(b, a));
  CHECK(logical_and(less(x, 5), less(x, 9)) == less(x, 5));
  CHECK(logical_or(less(x, 5), less(x, 9)) == less(x, 9));
  CHECK(logical_and(less(x, 5), 1) == less(x, 5));
  CHECK(logical_and(less(x, 5), 0).is_const(0));
  CHECK(logical_and(less(x, 5), 1 - less(x, 5)).is_const(0));
  CHECK(logical_or(less(x, 5), 1 - less(x, 5)).is_const(1));
}

TEST_CASE("comparisons know what quotients, remainders and extremes are made of") {
  CHECK(less(n, floor_div(n, 2)).is_const(0));
  CHECK(less(floor_div(n - 1, 4) + 1, floor_div(n + 3, 8)).is_const(0));
  CHECK(less(n, mod(n, 4)).is_const(0));
  CHECK(less(mod(x, n), n).is_const(1));
  CHECK(less(n, min(n, 7)).is_const(0));
  CHECK(less(max(n, x), n).is_const(0));
  CHECK(less(floor_div(x, n), x + 1).is_const(1));
  CHECK(less(floor_div(n, 2), n).is_const(1));
  CHECK_FALSE(less(floor_div(x, 2), x).is_const());
}

TEST_CASE("minimum and maximum") {
  CHECK(min(a, 200) == a);
  CHECK(max(a, 200).is_const(200));
  CHECK(min(min(a, b), a) == min(b, a));
  CHECK(max(a, a + 1) == a + 1);
  CHECK(min(j, n) == j);
  CHECK(min(a, 7).max() == 7);
}

TEST_CASE("bounds") {
  CHECK((a * 2 - b).min() == -11);
  CHECK((a * 2 - b).max() == 200);
  CHECK(floor_div(z, 7).min() == -8);
  CHECK(floor_div(z, 7).max() == 7);
  CHECK(mod(z, 7).max() == 6);
  CHECK((n - j).min() == 1);
  CHECK((m * n - i * n - j).min() == 1);
  const Expr huge = Expr::symbol("huge", 0, INT64_MAX);
  CHECK_THROWS_AS(huge * 4, Error);
  CHECK_THROWS_AS(huge + huge, Error);
  CHECK_THROWS_AS(floor_div(a, 0), Error);
  CHECK_THROWS_AS(mod(a, -3), Error);
  CHECK_THROWS_AS(Expr::symbol("", 0, 1), Error);
  CHECK_THROWS_AS(Expr::symbol("q", 2, 1), Error);
}

TEST_CASE("questions to an expression") {
  int64_t coefficient = 0;
  Expr rest;
  REQUIRE((a * 3 + b + 7).linear_in("a", coefficient, rest));
  CHECK(coefficient == 3);
  CHECK(rest == b + 7);
  CHECK_FALSE(floor_div(x, 7).linear_in("x", coefficient, rest));
  REQUIRE(b.linear_in("a", coefficient, rest));
  CHECK(coefficient == 0);
  CHECK((a * 8 + b * 4 + 12).divisible_by(4));
  CHECK_FALSE((a * 8 + b * 2).divisible_by(4));
  CHECK((mod(x, 6) * 2 * n).divisible_by(2));
  CHECK(Expr(0).divisible_by(1000));
  CHECK(floor_div(x, 7).depends_on("x"));
  CHECK_FALSE((x - x + a).depends_on("x"));
  std::map<std::string, Expr> symbols;
  (a * n + mod(x, 7)).collect_symbols(symbols);
  CHECK(symbols.size() == 3);
  CHECK((a * 12 + b).substitute({{"a", Expr(2)}, {"b", a}}) == a + 24);
  CHECK(floor_div(x, 4).substitute({{"x", a * 4 + c}}) == a);
  CHECK((a * n - 1).evaluate({{"a", 3}, {"n", 5}}) == 14);
  CHECK_THROWS_AS(a.evaluate({}), Error);
  CHECK_THROWS_AS(floor_div(x, Expr::symbol("e", 0, 9)).evaluate({{"x", 1}, {"e", 0}}), Error);
}

TEST_CASE("expressions as text") {
  CHECK(to_string(n * 4 + floor_div(x, 2) - 1) == "n*4 + x//2 - 1");
  CHECK(to_string(-floor_div(x, 3) - a) == "-a - x//3");
  CHECK(to_string(-floor_div(x, 3)) == "-(x//3)");
  CHECK(to_string(floor_div(a + x, 3) * 5) == "5*((a + x)//3)");
  CHECK(to_string(min(a, x)) == "min(a, x)");
  CHECK(to_string(Shape{n, 10}) == "[n, 10]");
  CHECK(to_string(Shape{}) == "[]");
}

TEST_CASE("shapes") {
  CHECK(product({n, 10, m}) == n * m * 10);
  CHECK(product({}).is_const(1));
  CHECK(is_static({Expr(2), Expr(3)}));
  CHECK_FALSE(is_static({n}));
  CHECK(row_major_strides({2, n, 4}) == Shape{n * 4, 4, 1});
  CHECK(same_shape({n * 2}, {n + n}));
  CHECK_FALSE(same_shape({n}, {m}));
}

TEST_CASE("bounds of products of sums, multiplied out") {
  const Expr p = Expr::symbol("p", 3, 64), q = Expr::symbol("q", 4, 64);
  CHECK(((p - 3) * (q - 3)).min() == 0);
  CHECK(((p - 3) * (q - 4) * 2 + p).min() == 3);
  CHECK((p * q - p).min() == 9);
  CHECK((p * p - p * 6 + 9).min() == 0);
  CHECK((p * p - p).min() == 6);
  CHECK((p * p * q - p * p * 4).min() == 0);
  CHECK((p * p - p * 20 + 100).min() <= 0);  // (p - 10)^2 has no zero at an end
}

TEST_CASE("what is below 0 by less than a symbol") {
  const Expr p = Expr::symbol("p", 3, 64);
  CHECK(floor_div(Expr(-2), p).is_const(-1));
  CHECK(mod(Expr(-2), p) == p - 2);
  CHECK((p - mod(Expr(-2), p)).is_const(2));
  const Expr any = Expr::symbol("any", 1, 64);  // 1 divides -2
  CHECK(mod(Expr(-2), any).min() == 0);
  CHECK(mod(Expr(-2), any).evaluate({{"any", 1}}) == 0);
}

TEST_CASE("expressions do not grow without end") {
  Expr e = x;
  const auto deepen = [&] {
    for (int k = 2; k < 2000; ++k) e = mod(e * e + floor_div(e, 3), 1000 + k);
  };
  CHECK_THROWS_AS(deepen(), Error);
}

}  // namespace
}  // namespace tenon
