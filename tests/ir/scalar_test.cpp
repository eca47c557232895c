// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CAST on values, and values as text.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "core/ir/dtype.hpp"

namespace tenon {
namespace {

int64_t to_int(double value, DType to) { return cast(Scalar::of(DType::kF64, value), to).as_int(); }

TEST_CASE("floats become integers by truncation and saturation") {
  CHECK(to_int(2.9, DType::kI32) == 2);
  CHECK(to_int(-2.9, DType::kI32) == -2);
  CHECK(to_int(NAN, DType::kI32) == 0);
  CHECK(to_int(1e300, DType::kI8) == 127);
  CHECK(to_int(-1e300, DType::kI8) == -128);
  CHECK(to_int(-128.9, DType::kI8) == -128);
  CHECK(to_int(-0.9, DType::kU8) == 0);
  CHECK(to_int(-5, DType::kU8) == 0);
  CHECK(to_int(255.9, DType::kU8) == 255);
  CHECK(to_int(INFINITY, DType::kI64) == INT64_MAX);
  CHECK(to_int(-INFINITY, DType::kI64) == INT64_MIN);
  CHECK(cast(Scalar::of(DType::kF64, 0x1p64), DType::kU64).bits == UINT64_MAX);
  CHECK(cast(Scalar::of(DType::kF64, 0x1p63), DType::kU64).bits == uint64_t{1} << 63);
}

TEST_CASE("anything nonzero is true") {
  for (const DType d : all_dtypes()) {
    INFO(dtype_name(d));
    CHECK(cast(zero(d), DType::kBool).bits == 0);
    CHECK(cast(one(d), DType::kBool).bits == 1);
    if (!is_float(d)) continue;
    CHECK(cast(Scalar::of(d, -0.0), DType::kBool).bits == 0);
    CHECK(cast(Scalar::of(d, NAN), DType::kBool).bits == 1);
    CHECK(cast(Scalar{d, 1}, DType::kBool).bits == 1);
  }
  CHECK(cast(Scalar{DType::kI64, uint64_t{1} << 40}, DType::kBool).bits == 1);
}

TEST_CASE("integers wrap") {
  CHECK(Scalar::of_int(DType::kI8, 200).as_int() == -56);
  CHECK(Scalar::of_int(DType::kU8, -1).as_int() == 255);
  CHECK(cast(Scalar::of_int(DType::kI8, -1), DType::kU64).bits == UINT64_MAX);
  CHECK(cast(Scalar::of_int(DType::kU32, -1), DType::kI64).as_int() == 0xffffffff);
  CHECK(Scalar::of_int(DType::kI16, -3).bits == 0xfffd);
}

/// value as a float of `digits` mantissa bits, by halving on 128-bit integers; ties to even.
double rounded(unsigned __int128 value, int digits) {
  int shift = 0;
  while (value >> shift >> digits) ++shift;
  unsigned __int128 kept = value >> shift;
  const unsigned __int128 rest = value - (kept << shift);
  const unsigned __int128 half = shift ? static_cast<unsigned __int128>(1) << (shift - 1) : 0;
  if (shift && (rest > half || (rest == half && (kept & 1)))) ++kept;
  return std::ldexp(static_cast<double>(kept), shift);
}

TEST_CASE("integers become floats with one rounding") {
  std::mt19937_64 random(5);
  const std::pair<DType, int> formats[] = {
      {DType::kF16, 11}, {DType::kBF16, 8}, {DType::kF32, 24}, {DType::kF64, 53}};
  for (int i = 0; i < 20000; ++i) {
    uint64_t value = random() >> (random() % 64);
    // Just beside a tie of a narrow format: rounding by way of f32 or f64 would lose the last bit.
    if (i % 2) value = ((value | 1) << 45 | uint64_t{1} << 44) + (random() % 3) - 1;
    for (const auto& [dtype, digits] : formats) {
      double expected = rounded(value, digits);
      if (dtype == DType::kF16 && expected > 65504) expected = INFINITY;
      INFO(dtype_name(dtype) << " of " << value);
      REQUIRE(cast(Scalar{DType::kU64, value}, dtype).as_double() == expected);
      const auto negative = static_cast<int64_t>(value >> 1);
      expected = rounded(static_cast<uint64_t>(negative), digits);
      if (dtype == DType::kF16 && expected > 65504) expected = INFINITY;
      REQUIRE(Scalar::of_int(dtype, -negative).as_double() == -expected);
    }
  }
  CHECK(Scalar::of_int(DType::kF8E4M3, INT64_MIN).as_double() == -448);
  CHECK(cast(Scalar{DType::kU64, UINT64_MAX}, DType::kBF16).as_double() == 0x1p64);
}

TEST_CASE("one rounding from f64 to narrow floats, not two") {
  // Halfway in f16 but for a bit that f32 would drop.
  const double x = 1 + 0x1p-11 + 0x1p-40;
  CHECK(Scalar::of(DType::kF16, x).as_double() == 1 + 0x1p-10);
  CHECK(Scalar::of(DType::kF16, 1 + 0x1p-11).as_double() == 1);
  CHECK(Scalar::of(DType::kBF16, 1 + 0x1p-8 + 0x1p-40).as_double() == 1 + 0x1p-7);
}

TEST_CASE("identities of reductions") {
  CHECK(lowest(DType::kF32).as_double() == -INFINITY);
  CHECK(lowest(DType::kF8E4M3).as_double() == -448);
  CHECK(highest(DType::kF8E4M3).as_double() == 448);
  CHECK(lowest(DType::kI16).as_int() == -32768);
  CHECK(highest(DType::kI16).as_int() == 32767);
  CHECK(lowest(DType::kU16).bits == 0);
  CHECK(highest(DType::kU64).bits == UINT64_MAX);
  CHECK(highest(DType::kBool).bits == 1);
  CHECK(Scalar::of(DType::kF16, -0.0).is_zero());
  CHECK_FALSE(Scalar{DType::kF16, 1}.is_zero());
}

TEST_CASE("values as text") {
  const auto text = [](DType d, double v) { return to_string(Scalar::of(d, v)); };
  CHECK(text(DType::kF32, 1.5) == "1.5");
  CHECK(text(DType::kF32, -0.0) == "-0.0");
  CHECK(text(DType::kF32, 3) == "3.0");
  CHECK(text(DType::kF16, 0.1) == "0.1");
  CHECK(text(DType::kF64, 1e300) == "1e+300");
  CHECK(text(DType::kF32, -INFINITY) == "-inf");
  CHECK(text(DType::kF32, NAN) == "nan");
  CHECK(to_string(Scalar{DType::kF32, 0x7fc01234}) == "nan(0x7fc01234)");
  CHECK(to_string(Scalar{DType::kBool, 1}) == "true");
  CHECK(to_string(Scalar::of_int(DType::kI8, -128)) == "-128");
  CHECK(to_string(Scalar{DType::kU64, UINT64_MAX}) == "18446744073709551615");
}

TEST_CASE("text gives back the same bits") {
  std::mt19937_64 random(7);
  for (const DType d : all_dtypes()) {
    const bool small = dtype_bits(d) <= 16;
    const uint64_t count = small ? uint64_t{1} << dtype_bits(d) : 20000;
    for (uint64_t i = 0; i < (d == DType::kBool ? 2 : count); ++i) {
      const uint64_t bits = small ? i : random() >> (64 - dtype_bits(d));
      const Scalar s{d, bits};
      const std::string text = to_string(s);
      INFO(dtype_name(d) << " " << bits << " " << text);
      REQUIRE(scalar_from_string(d, text) == s);
    }
  }
}

TEST_CASE("numbers that people write") {
  const auto f32 = [](std::string_view t) {
    return scalar_from_string(DType::kF32, t)->as_double();
  };
  CHECK(f32("2") == 2);
  CHECK(f32("1e3") == 1000);
  CHECK(f32("-2.5E-1") == -0.25);
  CHECK(f32("0x1.8p3") == 12);
  CHECK(f32("-0x1p-2") == -0.25);
  CHECK(f32("-1e-999") == 0);
  CHECK(scalar_from_string(DType::kU8, "0xff")->bits == 255);
  for (const char* bad : {"", "-", "1.5.2", "abc", "1e", "--1", "+1", "nan(", "nan(0x1)", "0x",
                          "1 ", "1e999", "-3.5e38"})
    CHECK_FALSE(scalar_from_string(DType::kF32, bad));
  for (const char* bad : {"", "-", ".", "256", "-1", "1.5", "25.5e", "1e3", "1e99999999999",
                          "0x100", "0x", "true", "25e-1"})
    CHECK_FALSE(scalar_from_string(DType::kU8, bad));
  for (const char* good : {"250", "250.0", "2.5e2", "25e1", "2500e-1", "0xfa", "000250.000"})
    CHECK(scalar_from_string(DType::kU8, good)->bits == 250);
  CHECK(scalar_from_string(DType::kU8, "0e999999999")->bits == 0);
  CHECK(scalar_from_string(DType::kI64, "9007199254740993.0")->as_int() == 9007199254740993);
  CHECK_FALSE(scalar_from_string(DType::kF16, "70000"));
  CHECK_FALSE(scalar_from_string(DType::kF8E4M3, "inf"));
  CHECK(scalar_from_string(DType::kI64, "-9223372036854775808")->as_int() == INT64_MIN);
  CHECK_FALSE(scalar_from_string(DType::kI64, "9223372036854775808"));
  CHECK_FALSE(scalar_from_string(DType::kBool, "2"));
}

}  // namespace
}  // namespace tenon
