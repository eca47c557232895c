// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference itself, against 113-bit arithmetic (libquadmath) and, for narrow floats, against
// every code there is.
#include <quadmath.h>

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "core/interval/interval.hpp"
#include "core/ir/scalar_op.hpp"

using namespace tenon;

namespace {

using Quad = __float128;

Quad precisely(Op op, Quad x) {
  switch (op) {
    case Op::EXP2:
      return exp2q(x);
    case Op::EXP:
      return expq(x);
    case Op::LOG2:
      return log2q(x);
    case Op::LN:
      return logq(x);
    case Op::SIN:
      return sinq(x);
    case Op::COS:
      return cosq(x);
    case Op::SQRT:
      return sqrtq(x);
    default:
      return 1 / x;
  }
}

constexpr Op kFunctions[] = {Op::EXP2, Op::EXP, Op::LOG2, Op::LN,
                             Op::SIN,  Op::COS, Op::SQRT, Op::RECIP};

Scalar reference(Op op, const Scalar& x) { return evaluate_scalar(op, x.dtype, std::vector{x}); }

/// A format by its definition: sign, exponent, significand.
struct Layout {
  int exponent_bits, fraction_bits, bias;
  bool has_infinity;
};

Layout layout(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return {5, 10, 15, true};
    case DType::kBF16:
      return {8, 7, 127, true};
    case DType::kF8E5M2:
      return {5, 2, 15, true};
    default:
      return {4, 3, 7, false};
  }
}

double by_definition(DType dtype, uint64_t code) {
  const Layout f = layout(dtype);
  const auto fraction = static_cast<double>(code & ((1u << f.fraction_bits) - 1));
  const int exponent = static_cast<int>(code >> f.fraction_bits & ((1u << f.exponent_bits) - 1));
  const double sign = code >> (f.exponent_bits + f.fraction_bits) & 1 ? -1 : 1;
  const int top = (1 << f.exponent_bits) - 1;
  if (exponent == top && f.has_infinity) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == top && fraction == 7) return std::nan("");
  const double scale = std::ldexp(1, std::max(exponent, 1) - f.bias - f.fraction_bits);
  return sign * scale * (fraction + (exponent ? std::ldexp(1, f.fraction_bits) : 0));
}

constexpr DType kNarrow[] = {DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kF8E5M2};

}  // namespace

TEST_CASE("functions of f32 are the nearest number but in one of a million") {
  std::mt19937_64 random(5);
  for (const Op op : kFunctions) {
    int off = 0, farther = 0;
    constexpr int kRounds = 40000;
    for (int i = 0; i < kRounds; ++i) {
      const auto code = static_cast<uint32_t>(random());
      const auto x = std::bit_cast<float>(code);
      if (!std::isfinite(x) || (op == Op::SIN || op == Op::COS ? std::abs(x) > 1e6 : false))
        continue;
      const Scalar got = reference(op, {DType::kF32, code});
      const Scalar right{DType::kF32,
                         std::bit_cast<uint32_t>(static_cast<float>(precisely(op, x)))};
      const double distance = ulp_distance(got, right);
      off += distance != 0;
      farther += distance > 1;
    }
    INFO(op_info(op).text);
    CHECK(off <= 1);  // double rounding, on a tie to 29 bits
    CHECK(farther == 0);
  }
}

TEST_CASE("functions of f64 are within a unit, square root and reciprocal exact") {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> exponent(-600, 600), mantissa(1, 2);
  for (const Op op : kFunctions) {
    double worst = 0;
    int off = 0;
    constexpr int kRounds = 4000;
    for (int i = 0; i < kRounds; ++i) {
      double x = std::ldexp(mantissa(random), static_cast<int>(exponent(random) / 60));
      if (i % 2 && op != Op::LOG2 && op != Op::LN && op != Op::SQRT) x = -x;
      const Scalar got = reference(op, Scalar::of(DType::kF64, x));
      const double distance =
          ulp_distance(got, Scalar::of(DType::kF64, static_cast<double>(precisely(op, x))));
      worst = std::max(worst, distance);
      off += distance != 0;
    }
    INFO(op_info(op).text << " worst " << worst << ", " << off << " of " << kRounds << " off");
    CHECK(worst <= 1);
    CHECK(off <= (op == Op::SQRT || op == Op::RECIP ? 0 : kRounds / 100));
  }
}

TEST_CASE("arithmetic rounds once in every format") {
  std::mt19937_64 random(7);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kF8E5M2})
    for (int i = 0; i < 20000; ++i) {
      const size_t bits = dtype_bits(dtype);
      const auto draw = [&] { return Scalar{dtype, random() >> (64 - bits)}; };
      const Scalar a = draw(), b = draw(), c = draw();
      const Quad x = a.as_double(), y = b.as_double(), z = c.as_double();
      if (!finiteq(x) || !finiteq(y) || !finiteq(z)) continue;
      // 113 bits to odd, by way of double, then to the format: one rounding in effect.
      const auto once = [&](Quad exact) {
        auto d = static_cast<double>(exact);
        if (d != exact && std::isfinite(d)) {
          const auto toward = std::bit_cast<uint64_t>(d);
          if (!(toward & 1)) d = std::nextafter(d, exact > d ? INFINITY : -INFINITY);
        }
        return Scalar::of(dtype, d);
      };
      INFO(dtype_name(dtype) << " " << to_string(a) << " " << to_string(b) << " " << to_string(c));
      CHECK(evaluate_scalar(Op::ADD, dtype, std::vector{a, b}) == once(x + y));
      CHECK(evaluate_scalar(Op::MUL, dtype, std::vector{a, b}) == once(x * y));
      // f32's product has 48 bits: with 113 of them the sum is exact where exponents are near.
      // (ilogb of zero is the least integer)
      const int64_t apart =
          int64_t{std::ilogb(static_cast<double>(x * y))} - std::ilogb(c.as_double());
      if (std::abs(apart) < 50)
        CHECK(evaluate_scalar(Op::FMA, dtype, std::vector{a, b, c}) == once(x * y + z));
      if (y != 0) CHECK(evaluate_scalar(Op::FDIV, dtype, std::vector{a, b}) == once(x / y));
    }
}

TEST_CASE("every code of the narrow floats means what its format says") {
  for (const DType dtype : kNarrow)
    for (uint64_t code = 0; code < uint64_t{1} << dtype_bits(dtype); ++code) {
      const Scalar s{dtype, code};
      const double value = by_definition(dtype, code);
      INFO(dtype_name(dtype) << " code " << code);
      if (std::isnan(value)) {
        CHECK(std::isnan(s.as_double()));
      } else {
        CHECK(s.as_double() == value);
        CHECK(std::signbit(s.as_double()) == std::signbit(value));
        CHECK(Scalar::of(dtype, value) == s);
      }
    }
}

TEST_CASE("between two codes of a narrow float the nearer is taken, and the even one at a tie") {
  for (const DType dtype : kNarrow) {
    const uint64_t codes = uint64_t{1} << (dtype_bits(dtype) - 1);
    for (uint64_t code = 0; code + 1 < codes; ++code) {
      const double low = by_definition(dtype, code), high = by_definition(dtype, code + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) break;
      const double middle = (low + high) / 2;
      INFO(dtype_name(dtype) << " code " << code);
      for (const uint64_t sign : {uint64_t{0}, codes}) {
        const auto at = [&](double y) { return Scalar::of(dtype, sign ? -y : y).bits; };
        CHECK(at(middle) == (sign | (code & 1 ? code + 1 : code)));
        CHECK(at(std::nextafter(middle, low)) == (sign | code));
        CHECK(at(std::nextafter(middle, high)) == (sign | (code + 1)));
      }
    }
  }
}

TEST_CASE("functions of narrow floats are the nearest number for every operand") {
  for (const DType dtype : kNarrow)
    for (const Op op : kFunctions)
      for (uint64_t code = 0; code < uint64_t{1} << dtype_bits(dtype);
           code += dtype_size(dtype) == 1 ? 1 : 7) {
        const Scalar x{dtype, code};
        const double value = x.as_double();
        if (!std::isfinite(value) || std::abs(value) > 1e6) continue;
        const Scalar got = reference(op, x);
        const Scalar right = Scalar::of(dtype, static_cast<double>(precisely(op, value)));
        INFO(op_info(op).text << " of " << to_string(x) << " in " << dtype_name(dtype));
        CHECK(ulp_distance(got, right) == 0);
      }
}
