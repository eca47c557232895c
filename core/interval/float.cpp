// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Properties of float formats; rounding, widening and flushing of intervals.
#include <algorithm>
#include <cmath>

#include "core/interval/ops.hpp"
#include "core/ir/narrow_float.hpp"
#include "core/support/error.hpp"

namespace tenon::reference {

double FloatFacts::min_normal() const { return std::ldexp(1, min_exponent); }
double FloatFacts::unit_roundoff() const { return std::ldexp(1, -precision); }

FloatFacts float_facts(DType dtype) {
  TN_ASSERT(is_float(dtype));
  const FloatFormat& f = float_format(dtype);
  return {f.mantissa_bits + 1, 1 - f.bias, Scalar{dtype, f.max_finite}.as_double()};
}

double ulp(double y, DType dtype) {
  if (!std::isfinite(y)) return 0;
  const FloatFacts facts = float_facts(dtype);
  const int exponent = y == 0 ? facts.min_exponent : std::max(std::ilogb(y), facts.min_exponent);
  return std::ldexp(1, exponent - facts.precision + 1);
}

double round_to(double y, DType dtype) {
  if (dtype == DType::kF64) return y;
  if (dtype == DType::kF32) return static_cast<float>(y);
  return narrow_to_double(double_to_narrow(y, dtype), dtype);
}

DType compute_dtype(DType dtype, const Profile& profile) {
  if (dtype == DType::kF64 || profile.arithmetic[static_cast<size_t>(dtype)]) return dtype;
  return DType::kF32;
}

Interval point(double x) {
  if (std::isnan(x)) return {kInfinity, -kInfinity, true, false};
  return {x, x, false, false};
}

Interval anything() { return {-kInfinity, kInfinity, true, true}; }

Interval hull(const Interval& a, const Interval& b) {
  return {lesser(a.low, b.low), greater(a.high, b.high), a.nan || b.nan, a.any || b.any};
}

Interval flush(const Interval& x, DType dtype) {
  if (is_empty(x)) return x;
  const double tiny = float_facts(dtype).min_normal();
  Interval out = x;
  // Flushed to a zero of any sign.
  if (x.low > 0 && x.low <= tiny) out.low = -0.0;
  if (x.high < 0 && x.high >= -tiny) out.high = 0.0;
  return out;
}

Interval nearest(const Interval& x, DType dtype) {
  if (is_empty(x)) return x;
  return {round_to(x.low, dtype), round_to(x.high, dtype), x.nan, x.any};
}

Interval inside(const Interval& x, DType dtype) {
  if (is_empty(x)) return x;
  // y is between two neighbours, ulp(y) apart, and round_to gives one of them.
  const auto at_least = [&](double y) {
    const double r = round_to(y, dtype);
    return r < y && std::isfinite(r) ? r + ulp(y, dtype) : r;
  };
  return {at_least(x.low), -at_least(-x.high), x.nan, x.any};
}

Interval outside(const Interval& x, DType dtype, double further) {
  if (is_empty(x)) return x;
  const bool exact = is_point(x);
  const auto at_most = [&](double y) {
    const double r = round_to(y, dtype);
    if (!std::isfinite(y) || (r == y && (exact || further == 0))) return r;
    return (r > y ? round_to(y - ulp(y, dtype) / 2, dtype) : r) - further * ulp(y, dtype);
  };
  return nearest({at_most(x.low), -at_most(-x.high), x.nan, x.any}, dtype);
}

Interval widen(const Interval& x, const AllowedError& error, DType dtype) {
  if (is_empty(x)) return x;
  const auto below = [&](double y) {
    return std::isinf(y) ? y : y - std::max(error.ulps * ulp(y, dtype), error.absolute);
  };
  // The unit doubles at a power of two within the interval.
  const auto least = [&](double low, double high) {
    const double power = low > 0 && std::isfinite(low) ? std::ldexp(1, std::ilogb(low) + 1) : low;
    return power <= high ? std::min(below(low), below(power)) : below(low);
  };
  return {least(x.low, x.high), -least(-x.high, -x.low), x.nan, x.any};
}

Interval settle_in(const Interval& image, const AllowedError& error, DType dtype) {
  const Interval rounded = nearest(image, dtype);
  if (is_empty(image) || (error.ulps == 0 && error.absolute == 0)) return rounded;
  const Interval wide = widen(image, error, dtype);
  Interval out = hull(rounded, nearest(wide, dtype));
  // Vulkan: above the largest number, both that number and infinity may be returned.
  const double max = float_facts(dtype).max;
  if (wide.high > max) out = {std::min(out.low, max), kInfinity, out.nan, out.any};
  if (wide.low < -max) out = {-kInfinity, std::max(out.high, -max), out.nan, out.any};
  return out;
}

Interval finish(Interval x, DType dtype, const Profile& profile) {
  const DType wide = compute_dtype(dtype, profile);
  const auto infinite = [&] { return (profile.numerics & kNoInf) && has_infinity(x); };
  if (profile.numerics & kFlushOutput) x = flush(x, wide);
  if (wide != dtype) {  // by a cast, which may flush its operand
    if (infinite() || (x.nan && (profile.numerics & kNoNan))) return anything();
    x = nearest(x, dtype);
    if (profile.numerics & kFlushOutput) x = flush(x, dtype);
  }
  return infinite() ? anything() : x;
}

}  // namespace tenon::reference
