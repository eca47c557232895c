// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accepts a device's result for one element, and measures its error.
#include <algorithm>
#include <cmath>

#include "core/interval/ops.hpp"

namespace tenon {

bool accepts(const IntervalArray& expected, int64_t i, const Scalar& got, const Profile& profile) {
  const Scalar value = expected.value.at(i);
  const Interval range = expected.at(i);
  if (range.any) return true;
  if (!is_float(got.dtype)) {
    if (expected.exact() || !expected.doubt[i]) return got.bits == value.bits;
    return reference::contains(range, got.as_double());
  }
  const double g = got.as_double();
  if (std::isnan(g)) return range.nan;
  if (g == 0 && range.low == 0 && range.high == 0 &&
      std::signbit(range.low) == std::signbit(range.high))
    return std::signbit(g) == std::signbit(range.low) || (profile.numerics & kNoSignedZero);
  return reference::contains(range, g);
}

double relative_width(const IntervalArray& expected, int64_t i) {
  if (expected.exact()) return 0;
  const Interval x = expected.range[i];
  if (x.any) return reference::kInfinity;
  if (!is_float(expected.value.dtype))
    return expected.doubt[i] && x.low != x.high ? reference::kInfinity : 0;
  if (reference::is_empty(x)) return 0;
  if (x.nan) return reference::kInfinity;
  if (x.low == x.high) return 0;
  if (std::isinf(x.low) || std::isinf(x.high)) return reference::kInfinity;
  return (x.high - x.low) / std::max(std::abs(x.low), std::abs(x.high));
}

double ulp_distance(const Scalar& got, const Scalar& value) {
  if (!is_float(value.dtype)) {
    if (got.bits == value.bits) return 0;
    return std::max(1.0, std::abs(got.as_double() - value.as_double()));
  }
  const bool got_nan = std::isnan(got.as_double()), value_nan = std::isnan(value.as_double());
  if (got_nan || value_nan) return got_nan && value_nan ? 0 : reference::kInfinity;
  // Floats as sign-magnitude integers are in the order of their values.
  const uint64_t sign = uint64_t{1} << (dtype_bits(value.dtype) - 1);
  const auto place = [&](const Scalar& s) {
    const auto size = static_cast<double>(s.bits & (sign - 1));
    return s.bits & sign ? -size : size;
  };
  if ((got.bits & sign) == (value.bits & sign)) {
    const uint64_t a = std::max(got.bits, value.bits), b = std::min(got.bits, value.bits);
    return static_cast<double>(a - b);
  }
  return std::abs(place(got) - place(value));
}

}  // namespace tenon
