// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums and products of intervals in any order: gamma_n = n u / (1 - n u) of the terms' magnitudes
// (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2), and nothing at
// all where every order is exact.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/interval/ops.hpp"

namespace tenon::reference {
namespace {

/// Unit roundoff of long double. For many terms its own rounding counts too.
constexpr long double kLongUnit = 0x1p-63L;

/// NaN and infinities among the terms. An infinity is sure if a term can be nothing else.
struct Survey {
  bool nan = false, only_nan = false, any = false, points = true, zero = false;
  bool plus = false, sure_plus = false, minus = false, sure_minus = false;
  bool infinities() const { return plus || minus; }
};

Survey survey(const std::vector<Interval>& terms) {
  Survey s;
  for (const Interval& x : terms) {
    s.any |= x.any;
    s.nan |= x.nan;
    s.points &= is_point(x);
    if (is_empty(x)) {
      s.only_nan |= !x.any;
      continue;
    }
    s.plus |= x.high == kInfinity;
    s.sure_plus |= x.low == kInfinity && !x.nan;
    s.minus |= x.low == -kInfinity;
    s.sure_minus |= x.high == -kInfinity && !x.nan;
    s.zero |= contains(x, 0);
  }
  return s;
}

double least_magnitude(const Interval& x) {
  return contains(x, 0) ? 0 : std::min(std::abs(x.low), std::abs(x.high));
}

/// Exponent of the lowest set bit of a finite, nonzero x.
int lowest_bit(double x) {
  int exponent = 0;
  const auto mantissa = static_cast<uint64_t>(std::abs(std::ldexp(std::frexp(x, &exponent), 53)));
  return exponent - 53 + std::countr_zero(mantissa);
}

/// gamma_n for a unit roundoff; infinity if n u >= 1/2.
double gamma(double steps, double unit) {
  return steps * unit >= 0.5 ? kInfinity : steps * unit / (1 - steps * unit);
}

/// Number of roundings of a sum. A matrix unit truncates each of an atom's k products to an ULP of
/// the largest, and the atom's result again: (2k + 2) u for k terms, and k is at least 8.
double steps_of(double count, bool fused, DType accumulator, const Profile& profile) {
  const bool cuts = profile.cuts_sums && accumulator == DType::kF32;
  return cuts ? 2.25 * count : count - 1 + (fused ? 1 : 0);
}

/// Sums over the ends of finite terms.
struct Total {
  long double low = 0, high = 0, up = 0, down = 0, magnitude = 0;
  double rising = 0, falling = 0;  ///< terms that may be above zero, and below
  int quantum = 2000;              ///< every term is a multiple of 2 to this power
};

Total total_of(const std::vector<Interval>& terms) {
  Total t;
  for (const Interval& x : terms) {
    if (is_empty(x)) continue;
    if (std::isfinite(x.low)) {
      t.low += x.low;
      t.down += std::max(-x.low, 0.0);
      t.falling += x.low < 0;
      if (x.low != 0) t.quantum = std::min(t.quantum, lowest_bit(x.low));
    }
    if (std::isfinite(x.high)) {
      t.high += x.high;
      t.up += std::max(x.high, 0.0);
      t.rising += x.high > 0;
    }
    if (std::isfinite(magnitude(x))) t.magnitude += magnitude(x);
  }
  return t;
}

}  // namespace

Interval sum(const std::vector<Interval>& terms, DType accumulator, bool fused,
             const Profile& profile) {
  const Survey s = survey(terms);
  const bool no_infinity = profile.numerics & kNoInf;
  if (s.any || (s.nan && (profile.numerics & kNoNan))) return anything();
  if (no_infinity && s.infinities()) return anything();
  if (s.only_nan) return point(std::nan(""));
  // A fused product does not overflow: an infinite term may be finite when fused.
  if (fused && s.infinities()) return {-kInfinity, kInfinity, true, false};
  if (s.sure_plus && s.sure_minus) return point(std::nan(""));
  if (terms.size() == 2 && !fused && !s.infinities()) {
    // A sum that starts from 0 computes 0 + x first, and its result is flushed.
    const bool flushes = profile.numerics & kFlushOutput;
    const Interval pair[] = {flushes ? flush(terms[0], accumulator) : terms[0],
                             flushes ? flush(terms[1], accumulator) : terms[1]};
    Interval out = apply(Op::ADD, accumulator, pair, profile);
    if (out.low == 0 || out.high == 0) out = hull(out, {-0.0, 0.0, false, false});
    return out;
  }

  const Total t = total_of(terms);
  const FloatFacts facts = float_facts(accumulator);
  const auto max = static_cast<long double>(facts.max);
  const auto count = static_cast<double>(terms.size());
  // Exact if all partial sums are multiples of one power of two that fit the format. Fused products
  // are not rounded to these terms, so they need not fit.
  const bool exact =
      terms.size() == 1 || (s.points && !fused && t.magnitude <= max &&
                            t.magnitude <= std::ldexp(1.0L, facts.precision + t.quantum));
  // Rounding is monotonic: no partial sum exceeds the sum of the positive terms.
  const auto beyond = [&](long double ends, double terms) {
    const double steps = exact ? 0 : terms - 1 + (fused ? 1 : 0);
    return ends * (1 + gamma(std::max(steps, 0.0), facts.unit_roundoff())) > max;
  };
  const bool overflows = beyond(t.up, t.rising), underflows = beyond(t.down, t.falling);
  long double error = 0;
  if (!exact) {
    const long double factor =
        gamma(steps_of(count, fused, accumulator, profile), facts.unit_roundoff());
    if (std::isinf(factor)) return {-kInfinity, kInfinity, true, false};
    error = (factor + count * kLongUnit) * t.magnitude;
  }
  // Rounding a subnormal product has an error of up to half the smallest number.
  if (fused) error += count * ulp(0, accumulator);
  // Subnormal terms and partial sums may be flushed; multiples of a normal number are not.
  const bool flushes = profile.numerics & (kFlushInput | kFlushOutput);
  if (flushes && !(exact && t.quantum >= facts.min_exponent))
    error += 2 * count * facts.min_normal();

  if (no_infinity && (overflows || underflows)) return anything();
  const bool nan = s.nan || ((s.plus || overflows) && (s.minus || underflows));
  if (s.sure_plus) return {kInfinity, kInfinity, nan, false};
  if (s.sure_minus) return {-kInfinity, -kInfinity, nan, false};
  Interval out =
      inside({static_cast<double>(t.low - error), static_cast<double>(t.high + error), nan, false},
             accumulator);
  if (s.minus || underflows) out.low = -kInfinity;
  if (s.plus || overflows) out.high = kInfinity;
  // A sum may start from +0 or from its first term, so a zero may have any sign.
  if (contains(out, 0)) out = hull(out, {-0.0, 0.0, false, false});
  return out;
}

Interval product(const std::vector<Interval>& terms, DType accumulator, const Profile& profile) {
  const Survey s = survey(terms);
  if (s.any || (s.nan && (profile.numerics & kNoNan))) return anything();
  if (s.infinities() && (profile.numerics & kNoInf)) return anything();
  if (s.only_nan) return point(std::nan(""));
  if (terms.size() == 1)
    return profile.numerics & (kFlushInput | kFlushOutput) ? flush(terms[0], accumulator)
                                                           : terms[0];
  const FloatFacts facts = float_facts(accumulator);
  double up = 0, down = 0, significand = 1;
  for (const Interval& x : terms) {
    up += std::max(0.0, std::log2(magnitude(x)));
    if (least_magnitude(x) > 0) down += std::min(0.0, std::log2(least_magnitude(x)));
    if (s.points && x.low != 0 && std::isfinite(x.low) && significand < 0x1p60)
      significand *= std::ldexp(std::abs(x.low), -lowest_bit(x.low));
  }
  const bool in_range = up < std::log2(facts.max) - 1 && down > facts.min_exponent + 1;
  if (!in_range) {  // some order overflows or underflows on its way
    const bool alike = s.points && !s.zero && (up == 0 || down == 0);
    if (!alike || profile.numerics) return {-kInfinity, kInfinity, true, false};
  }
  // Magnitudes apart from signs: no infinity meets a zero here but as a NaN.
  if (s.zero && s.infinities()) return {-kInfinity, kInfinity, true, false};
  long double low = 1, high = 1;
  for (const Interval& x : terms) {
    const long double a = x.low, b = x.high;
    const auto [least, most] = std::minmax({low * a, low * b, high * a, high * b});
    low = least;
    high = most;
  }
  const auto count = static_cast<double>(terms.size());
  const bool exact = s.points && significand <= std::ldexp(1, facts.precision) && in_range;
  if (!exact) {
    const long double factor = gamma(count - 1, facts.unit_roundoff()) + count * kLongUnit;
    if (factor > 0.5) return {-kInfinity, kInfinity, true, false};
    // A partial product that is subnormal loses bits and may grow again.
    const bool sinks = !in_range || (s.zero && !s.points);
    const double lost = profile.numerics ? facts.min_normal() : ulp(0, accumulator);
    const long double tiny = sinks ? count * lost * std::exp2(in_range ? up : 0.0) : 0;
    if (std::isfinite(low)) low -= std::abs(low) * factor + tiny;
    if (std::isfinite(high)) high += std::abs(high) * factor + tiny;
  }
  Interval out{static_cast<double>(low), static_cast<double>(high), s.nan, false};
  // The result is a number of the format.
  out = hull(nearest(out, accumulator), inside(out, accumulator));
  if (!s.points && contains(out, 0)) out = hull(out, {-0.0, 0.0, false, false});
  return profile.numerics & kFlushOutput ? flush(out, accumulator) : out;
}

}  // namespace tenon::reference
