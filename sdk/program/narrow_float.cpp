// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decodes by moving bit fields. Encodes by scaling to integer units in the last place.
#include "sdk/program/narrow_float.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tenon::sdk {
namespace {

constexpr uint64_t kDoubleSign = uint64_t{1} << 63;
constexpr uint64_t kDoubleInfinity = uint64_t{0x7ff} << 52;
constexpr uint64_t kDoubleFraction = (uint64_t{1} << 52) - 1;

/// 2 to the power of a normal exponent.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

}  // namespace

double decode_narrow(uint64_t bits, const NarrowFormat& format) {
  const uint64_t sign = bits & format.sign ? kDoubleSign : 0;
  const uint64_t code = bits & (format.sign - 1);
  const uint64_t fraction = code << (52 - format.mantissa_bits) & kDoubleFraction;
  if (code > format.max_finite) {
    const bool is_infinity = format.has_infinity && code == format.overflow;
    const uint64_t nan = kDoubleInfinity | uint64_t{1} << 51 | fraction;
    return std::bit_cast<double>(sign | (is_infinity ? kDoubleInfinity : nan));
  }
  const uint64_t field = code >> format.mantissa_bits;
  if (field == 0) {
    const double unit = power_of_two(1 - format.bias - format.mantissa_bits);
    const double magnitude = static_cast<double>(code) * unit;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<double>(sign | (field + 1023 - format.bias) << 52 | fraction);
}

uint64_t negate_narrow(uint64_t bits, const NarrowFormat& format) { return bits ^ format.sign; }

uint64_t encode_narrow(double value, const NarrowFormat& format) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint64_t sign = bits & kDoubleSign ? format.sign : 0;
  const uint64_t magnitude = bits & ~kDoubleSign;
  if (magnitude > kDoubleInfinity) {
    if (!format.has_infinity) return format.quiet_nan;
    return sign | format.quiet_nan | (bits & kDoubleFraction) >> (52 - format.mantissa_bits);
  }
  const int smallest = 1 - format.bias;
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent > format.bias + 1) return sign | format.overflow;
  const int top = std::max(exponent, smallest);
  // Integer units in the last place. Scaling by a power of two is exact; nearbyint rounds to even.
  const double units = std::nearbyint(std::fabs(value) * power_of_two(format.mantissa_bits - top));
  // The leading one of `units` adds one to the exponent field, as does a carry.
  const uint64_t code = (static_cast<uint64_t>(top - smallest) << format.mantissa_bits) +
                        static_cast<uint64_t>(units);
  return sign | (code > format.max_finite ? format.overflow : code);
}

}  // namespace tenon::sdk
