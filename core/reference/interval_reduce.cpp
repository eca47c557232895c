// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums and products of intervals in any order: gamma_n = n u / (1 - n u) of the terms' magnitudes
// (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2), and nothing at
// all where every order is exact.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/reference/interval_ops.hpp"

namespace tenon::reference {
namespace {

/// What terms together rule out before any arithmetic.
struct Survey {
  bool nan = false, only_nan = false, any = false, points = true;
  bool plus_infinity = false, minus_infinity = false, zero = false;
};

Survey survey(const std::vector<Interval>& terms) {
  Survey s;
  for (const Interval& x : terms) {
    s.any |= x.any;
    s.nan |= x.nan;
    s.only_nan |= is_empty(x) && !x.any;
    s.points &= is_point(x);
    s.plus_infinity |= x.high == kInfinity && !is_empty(x);
    s.minus_infinity |= x.low == -kInfinity && !is_empty(x);
    s.zero |= contains(x, 0);
  }
  return s;
}

double magnitude(const Interval& x) { return std::max(std::abs(x.low), std::abs(x.high)); }

/// Exponent of the lowest set bit of a finite, nonzero x.
int lowest_bit(double x) {
  int exponent = 0;
  const auto mantissa = static_cast<uint64_t>(std::abs(std::ldexp(std::frexp(x, &exponent), 53)));
  return exponent - 53 + std::countr_zero(mantissa);
}

/// Whether all partial sums are multiples of one power of two that the format can hold.
bool exact_in_any_order(const std::vector<Interval>& terms, long double total, DType dtype) {
  int quantum = 2000;
  for (const Interval& x : terms)
    if (x.low != 0) quantum = std::min(quantum, lowest_bit(x.low));
  return total <= std::ldexp(1.0L, float_facts(dtype).precision + quantum) &&
         total <= static_cast<long double>(float_facts(dtype).max);
}

Interval rounded(double low, double high, bool nan, DType dtype) {
  return {round_to(low, dtype), round_to(high, dtype), nan, false};
}

}  // namespace

Interval sum(const std::vector<Interval>& terms, DType accumulator, bool fused,
             const Profile& profile) {
  const Survey s = survey(terms);
  const bool no_infinity = profile.numerics & kNoInf;
  if (s.any || (s.nan && (profile.numerics & kNoNan))) return anything();
  if (no_infinity && (s.plus_infinity || s.minus_infinity)) return anything();
  if (s.only_nan) return point(std::nan(""));
  if (s.plus_infinity || s.minus_infinity) {
    // A fused product does not overflow by itself: its infinity may be a finite term.
    if (!s.points || fused) return {-kInfinity, kInfinity, true, false};
    if (s.plus_infinity && s.minus_infinity) return point(std::nan(""));
  }
  const bool flushes = profile.numerics & (kFlushInput | kFlushOutput);
  if (terms.size() == 2 && !fused && !s.plus_infinity && !s.minus_infinity) {
    Interval out = apply(Op::ADD, accumulator, terms.data(), profile);
    if (out.low == 0 || out.high == 0) out = hull(out, {-0.0, 0.0, false, false});
    return out;
  }

  long double low = 0, high = 0, total = 0;
  for (const Interval& x : terms) {
    if (std::isinf(x.low)) continue;
    low += x.low;
    high += x.high;
    total += magnitude(x);
  }
  const FloatFacts facts = float_facts(accumulator);
  const auto max = static_cast<long double>(facts.max);
  const double steps = static_cast<double>(terms.size()) - 1 + (fused ? 1 : 0);
  const double unit = facts.unit_roundoff();
  // Fused, the products are not these terms, and need not fit.
  const bool exact = s.points && !fused && exact_in_any_order(terms, total, accumulator);
  long double error = 0;
  if (!exact && terms.size() > 1) {
    if (steps * unit >= 0.5) return {-kInfinity, kInfinity, true, false};
    error = steps * unit / (1 - steps * unit) * total;
  }
  // A product below the normal numbers was rounded by up to half of the smallest one.
  if (fused) error += static_cast<double>(terms.size()) * ulp(0, accumulator);
  // Accumulators wide or narrow; subnormal sums lose bits, or all of them.
  if (flushes) error += (steps + 1) * facts.min_normal();
  const bool overflows = total + error > max;
  if (s.plus_infinity || s.minus_infinity) {
    const double inf = s.plus_infinity ? kInfinity : -kInfinity;
    return {inf, inf, overflows, false};
  }
  // With terms of both signs some order overflows on its way to a finite sum.
  const bool one_sign = std::ranges::all_of(terms, [](const Interval& x) { return x.low >= 0; }) ||
                        std::ranges::all_of(terms, [](const Interval& x) { return x.high <= 0; });
  if (overflows && !one_sign)
    return no_infinity ? anything() : Interval{-kInfinity, kInfinity, true, false};
  Interval out = rounded(static_cast<double>(low - error), static_cast<double>(high + error), s.nan,
                         accumulator);
  // Whether a sum starts from +0 or from its first term is free, so a zero's sign is too.
  if (contains(out, 0)) out = hull(out, {-0.0, 0.0, false, false});
  return overflows && no_infinity ? anything() : out;
}

Interval product(const std::vector<Interval>& terms, DType accumulator, const Profile& profile) {
  const Survey s = survey(terms);
  if (s.any || (s.nan && (profile.numerics & kNoNan))) return anything();
  if (s.only_nan) return point(std::nan(""));
  const FloatFacts facts = float_facts(accumulator);
  double up = 0, down = 0, significand = 1;
  for (const Interval& x : terms) {
    up += std::max(0.0, std::log2(magnitude(x)));
    if (x.low > 0 || x.high < 0)
      down += std::min(0.0, std::log2(std::min(std::abs(x.low), std::abs(x.high))));
    if (s.points && x.low != 0 && std::isfinite(x.low) && significand < 0x1p60)
      significand *= std::ldexp(std::abs(x.low), -lowest_bit(x.low));
  }
  const bool in_range = up < std::log2(facts.max) - 1 && down > facts.min_exponent + 1;
  const bool infinities = s.plus_infinity || s.minus_infinity;
  if (!in_range) {  // some order overflows or underflows on its way
    if (infinities && (profile.numerics & kNoInf)) return anything();
    const bool alike = s.points && !s.zero && (up == 0 || down == 0);
    if (!alike || profile.numerics) return {-kInfinity, kInfinity, true, false};
  }
  Interval out = point(1);
  for (const Interval& x : terms) {
    const Interval operands[] = {out, x, {}};
    out = exact_image(Op::MUL, DType::kF64, operands);
    if (is_empty(out)) return out;
  }
  const bool exact = s.points && significand <= std::ldexp(1, facts.precision) && in_range;
  if (!exact && terms.size() > 1) {
    const double slack = 2 * static_cast<double>(terms.size()) * (facts.unit_roundoff() + 0x1p-52);
    if (slack > 0.5) return {-kInfinity, kInfinity, true, false};
    const double tiny = ulp(0, accumulator) * static_cast<double>(terms.size());
    out.low -= std::abs(out.low) * slack + tiny;
    out.high += std::abs(out.high) * slack + tiny;
  }
  out.nan |= s.nan;
  out = rounded(out.low, out.high, out.nan, accumulator);
  return profile.numerics & kFlushOutput ? flush(out, accumulator) : out;
}

}  // namespace tenon::reference
