// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Narrow floats: every code, and rounding against the nearest of all codes.
#include "core/ir/dtype.hpp"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "core/support/error.hpp"

namespace tenon {
namespace {

const DType kNarrow[] = {DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kF8E5M2};

/// All finite values >= 0 of a dtype in order of their codes, decoded from the format's definition.
std::vector<double> finite_values(DType dtype) {
  struct Shape {
    int exponent, mantissa;
    bool all_finite;  ///< the top exponent holds numbers, and one NaN
  };
  const Shape f = dtype == DType::kF16      ? Shape{5, 10, false}
                  : dtype == DType::kBF16   ? Shape{8, 7, false}
                  : dtype == DType::kF8E4M3 ? Shape{4, 3, true}
                                            : Shape{5, 2, false};
  const int bias = (1 << (f.exponent - 1)) - 1;
  std::vector<double> values;
  for (int e = 0; e < (1 << f.exponent); ++e) {
    for (int m = 0; m < (1 << f.mantissa); ++m) {
      const bool top = e == (1 << f.exponent) - 1;
      if (top && (!f.all_finite || m == (1 << f.mantissa) - 1)) continue;
      const double fraction = std::ldexp(m, -f.mantissa);
      values.push_back(e == 0 ? std::ldexp(fraction, 1 - bias)
                              : std::ldexp(1 + fraction, e - bias));
    }
  }
  return values;
}

/// Nearest by trying all, ties to the even code; halfway beyond the largest overflows.
uint64_t nearest(double magnitude, const std::vector<double>& values, DType dtype) {
  const double largest = values.back();
  const double step = largest - values[values.size() - 2];
  const bool saturates = dtype == DType::kF8E4M3;
  if (magnitude >= largest + step / 2) return saturates ? values.size() - 1 : values.size();
  size_t best = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    const double d = std::abs(values[i] - magnitude), b = std::abs(values[best] - magnitude);
    if (d < b || (d == b && i % 2 == 0)) best = i;
  }
  return best;
}

uint64_t sign_bit(DType dtype) { return uint64_t{1} << (dtype_bits(dtype) - 1); }

TEST_CASE("names, sizes and kinds of dtypes") {
  CHECK(all_dtypes().size() == 15);
  for (const DType d : all_dtypes()) CHECK(dtype_from_name(dtype_name(d)) == d);
  CHECK_FALSE(dtype_from_name("f31"));
  CHECK_FALSE(dtype_from_name("void"));
  CHECK(dtype_size(DType::kBool) == 1);
  CHECK(dtype_size(DType::kU64) == 8);
  CHECK(dtype_bits(DType::kBF16) == 16);
  CHECK(is_int(DType::kU8));
  CHECK_FALSE(is_int(DType::kBool));
  CHECK_FALSE(is_signed(DType::kU32));
  CHECK(is_signed(DType::kF8E4M3));
  CHECK(is_small_float(DType::kF8E5M2));
  CHECK_FALSE(is_small_float(DType::kF16));
}

TEST_CASE("every code of the narrow floats has its value and comes back") {
  for (const DType dtype : kNarrow) {
    const std::vector<double> values = finite_values(dtype);
    const uint64_t codes = uint64_t{1} << dtype_bits(dtype);
    uint64_t wrong = 0;
    for (uint64_t code = 0; code < codes; ++code) {
      const double value = narrow_to_double(code, dtype);
      const uint64_t magnitude = code & ~sign_bit(dtype);
      const bool negative = code & sign_bit(dtype);
      if (magnitude < values.size()) {
        const double expected = negative ? -values[magnitude] : values[magnitude];
        wrong += std::bit_cast<uint64_t>(value) != std::bit_cast<uint64_t>(expected);
        wrong += double_to_narrow(value, dtype) != code;
      } else if (dtype != DType::kF8E4M3 && magnitude == values.size()) {
        wrong += value != (negative ? -INFINITY : INFINITY);
        wrong += double_to_narrow(value, dtype) != code;
      } else {
        wrong += !std::isnan(value);
        wrong += !std::isnan(narrow_to_double(double_to_narrow(value, dtype), dtype));
      }
    }
    INFO(dtype_name(dtype));
    CHECK(wrong == 0);
  }
}

TEST_CASE("rounding is to the nearest code, ties to even") {
  std::mt19937_64 random(3);
  for (const DType dtype : kNarrow) {
    const std::vector<double> values = finite_values(dtype);
    std::vector<double> probes = {0.0, 5e-324, 1e-310, 1e300, 1.7e308, values.back()};
    const int rounds = dtype_bits(dtype) == 8 ? 2000 : 60;
    for (int i = 0; i < rounds; ++i) {
      const size_t at = random() % (values.size() - 1);
      const double middle = values[at] + (values[at + 1] - values[at]) / 2;
      for (const double x : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300)})
        probes.push_back(x);
      probes.push_back(std::bit_cast<double>(random() & ~(uint64_t{1} << 63)));
      const double exponent = std::uniform_real_distribution(-30.0, 18.0)(random);
      probes.push_back(std::exp2(exponent));
    }
    const double step = values.back() - values[values.size() - 2];
    for (const double x : {values.back() + step / 2, values.back() + step * 0.49})
      probes.push_back(x);
    for (const double x : probes) {
      if (!std::isfinite(x)) continue;
      const uint64_t expected = nearest(x, values, dtype);
      INFO(dtype_name(dtype) << " " << x);
      REQUIRE(double_to_narrow(x, dtype) == expected);
      REQUIRE(double_to_narrow(-x, dtype) == (expected | sign_bit(dtype)));
    }
  }
}

TEST_CASE("not-a-number and infinity in the narrow floats") {
  CHECK(double_to_narrow(NAN, DType::kF8E4M3) == 0x7f);
  CHECK(double_to_narrow(-NAN, DType::kF8E4M3) == 0x7f);
  CHECK(double_to_narrow(INFINITY, DType::kF8E4M3) == 0x7e);
  CHECK(double_to_narrow(-INFINITY, DType::kF8E4M3) == 0xfe);
  CHECK(double_to_narrow(1e9, DType::kF8E4M3) == 0x7e);
  CHECK(double_to_narrow(INFINITY, DType::kF8E5M2) == 0x7c);
  CHECK(double_to_narrow(61440, DType::kF8E5M2) == 0x7c);
  CHECK(double_to_narrow(65519.9, DType::kF16) == 0x7bff);
  CHECK(double_to_narrow(65520, DType::kF16) == 0x7c00);
  CHECK(double_to_narrow(NAN, DType::kF16) == 0x7e00);
  CHECK(double_to_narrow(NAN, DType::kBF16) == 0x7fc0);
}

}  // namespace
}  // namespace tenon
