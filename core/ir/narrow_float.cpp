// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact conversions between double and narrower floats, in integer arithmetic.
#include "core/ir/narrow_float.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr uint64_t kDoubleQuietNan = 0x7ff8000000000000;
constexpr uint64_t kDoubleSign = uint64_t{1} << 63;

/// mantissa / 2^shift, rounded to nearest even.
uint64_t shift_right_rounded(uint64_t mantissa, int shift) {
  if (shift > 64) return 0;
  const uint64_t half = uint64_t{1} << (shift - 1);
  const uint64_t significand = shift == 64 ? 0 : mantissa >> shift;
  const uint64_t rest = shift == 64 ? mantissa : mantissa & (2 * half - 1);
  return significand + (rest > half || (rest == half && (significand & 1)));
}

}  // namespace

uint64_t round_to_format(bool negative, uint64_t mantissa, int exponent,
                         const FloatFormat& format) {
  const uint64_t sign = negative ? format.sign : 0;
  if (mantissa == 0) return sign;
  const int top = exponent + static_cast<int>(std::bit_width(mantissa)) - 1;
  const int smallest_normal = 1 - format.bias;
  if (top > format.bias + 1) return sign | format.overflow;
  const int clamped = std::max(top, smallest_normal);
  const int shift = clamped - format.mantissa_bits - exponent;
  const uint64_t significand =
      shift <= 0 ? mantissa << -shift : shift_right_rounded(mantissa, shift);
  // The leading one of `significand` adds one to the exponent field, as does a carry from rounding.
  const uint64_t code =
      (static_cast<uint64_t>(clamped - smallest_normal) << format.mantissa_bits) + significand;
  return sign | (code > format.max_finite ? format.overflow : code);
}

uint64_t negate_bits(uint64_t bits, DType dtype) { return bits ^ float_format(dtype).sign; }

double narrow_to_double(uint64_t bits, DType dtype) {
  const FloatFormat& format = float_format(dtype);
  const bool negative = bits & format.sign;
  const uint64_t code = bits & (format.sign - 1);
  if (code > format.max_finite) {
    if (format.has_infinity && code == format.overflow)
      return negative ? -std::numeric_limits<double>::infinity()
                      : std::numeric_limits<double>::infinity();
    const uint64_t payload = (code & ((uint64_t{1} << format.mantissa_bits) - 1))
                             << (52 - format.mantissa_bits);
    return std::bit_cast<double>(kDoubleQuietNan | payload | (negative ? kDoubleSign : 0));
  }
  const uint64_t field = code >> format.mantissa_bits;
  uint64_t mantissa = code & ((uint64_t{1} << format.mantissa_bits) - 1);
  if (field != 0) mantissa |= uint64_t{1} << format.mantissa_bits;
  const int exponent =
      static_cast<int>(std::max<uint64_t>(field, 1)) - format.bias - format.mantissa_bits;
  const double magnitude = std::ldexp(static_cast<double>(mantissa), exponent);
  return negative ? -magnitude : magnitude;
}

uint64_t double_to_narrow(double value, DType dtype) {
  const FloatFormat& format = float_format(dtype);
  const auto bits = std::bit_cast<uint64_t>(value);
  const bool negative = bits & kDoubleSign;
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  if (field == 0x7ff) {
    if (fraction == 0) return (negative ? format.sign : 0) | format.overflow;
    if (!format.has_infinity) return format.quiet_nan;
    return (negative ? format.sign : 0) | format.quiet_nan |
           fraction >> (52 - format.mantissa_bits);
  }
  const uint64_t mantissa = field == 0 ? fraction : fraction | uint64_t{1} << 52;
  return round_to_format(negative, mantissa, std::max(field, 1) - 1075, format);
}

}  // namespace tenon
