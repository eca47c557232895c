// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images of intervals under elementwise ops, and the decompositions that optional ops may take.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "core/interval/ops.hpp"
#include "core/support/error.hpp"

namespace tenon::reference {
namespace {

/// The hull of a function's values at corners; everything if a corner is NaN.
Interval corners(std::initializer_list<double> values) {
  Interval out{kInfinity, -kInfinity, false, false};
  for (const double v : values) {
    if (std::isnan(v)) return {-kInfinity, kInfinity, true, false};
    out.low = lesser(out.low, v);
    out.high = greater(out.high, v);
  }
  return out;
}

Interval multiply(const Interval& a, const Interval& b) {
  Interval out = corners({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  const bool zero_by_infinity =
      (contains(a, 0) && has_infinity(b)) || (contains(b, 0) && has_infinity(a));
  return zero_by_infinity ? Interval{-kInfinity, kInfinity, true, false} : out;
}

Interval divide(const Interval& a, const Interval& b) {
  const bool both_infinite = has_infinity(a) && has_infinity(b);
  if (contains(b, 0)) return {-kInfinity, kInfinity, contains(a, 0) || both_infinite, false};
  return corners({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
}

/// A monotonically increasing function on x >= domain; NaN below.
Interval increasing(Op op, DType dtype, Interval x, double domain) {
  const bool outside = x.low < domain;
  if (x.high < domain) return point(std::nan(""));
  if (outside) x.low = std::copysign(domain, -1.0);  // a flushed operand is a zero of any sign
  return {float_op(op, dtype, x.low, 0, 0), float_op(op, dtype, x.high, 0, 0), outside, false};
}

/// Sine or cosine: the values at the ends and the extremes between.
Interval wave(Op op, DType dtype, const Interval& x) {
  if (has_infinity(x)) return {-1, 1, true, false};
  constexpr double kPeriod = 2 * std::numbers::pi;
  if (std::max(-x.low, x.high) > 1e8 || x.high - x.low >= kPeriod) return {-1, 1, false, false};
  Interval out = corners({float_op(op, dtype, x.low, 0, 0), float_op(op, dtype, x.high, 0, 0)});
  const double crest = op == Op::SIN ? std::numbers::pi / 2 : 0;
  const auto reaches = [&](double at) {
    constexpr double kSlack = 1e-6;  // of pi in double, at 1e8
    const double next = at + std::ceil((x.low - kSlack - at) / kPeriod) * kPeriod;
    return next <= x.high + kSlack;
  };
  if (reaches(crest)) out.high = 1;
  if (reaches(crest + std::numbers::pi)) out.low = -1;
  return out;
}

Interval negate(const Interval& x) { return {-x.high, -x.low, x.nan, x.any}; }

Interval fused(const Interval& a, const Interval& b, const Interval& c, DType dtype) {
  const auto at = [&](double x, double y, double z) { return float_op(Op::FMA, dtype, x, y, z); };
  if (has_infinity(a) || has_infinity(b) || has_infinity(c))
    return {-kInfinity, kInfinity, true, false};
  return hull(corners({at(a.low, b.low, c.low), at(a.low, b.high, c.low), at(a.high, b.low, c.low),
                       at(a.high, b.high, c.low)}),
              corners({at(a.low, b.low, c.high), at(a.low, b.high, c.high),
                       at(a.high, b.low, c.high), at(a.high, b.high, c.high)}));
}

/// The smallest f64 power that overflows may be finite: double cannot represent the exact value.
Interval near_overflow(Op op, DType dtype, const Interval& x, Interval image) {
  if (dtype != DType::kF64 || op_family(op) != OpFamily::POWER || image.low != kInfinity)
    return image;
  const double edge = op == Op::EXP2 ? 1024 : 1024 * std::numbers::ln2;
  if (x.low < edge + 1e-9) image.low = float_facts(dtype).max;
  return image;
}

/// Relative error of e^x as exp2 of the leading bits of x times a polynomial. exp2's error is in
/// units of its result, so it is largest at a power of two; the polynomial adds two roundings.
/// `pinned`: x is the exact operand.
double exp_by_exp2(double x, bool pinned, DType dtype, const Profile& profile) {
  const FloatFacts facts = float_facts(dtype);
  double relative = std::ldexp(1, 1 - facts.precision);
  if (pinned && std::isfinite(x) && x != 0) {
    const int half = facts.precision / 2 - 1;
    const int shift = half - std::ilogb(x);
    const double leading = std::ldexp(std::trunc(std::ldexp(x, shift)), -shift);
    const double head = std::ldexp(std::trunc(std::ldexp(std::numbers::log2e, half)), -half);
    const double part = std::exp2(leading * head);
    if (part >= facts.min_normal() && part < facts.max) relative = ulp(part, dtype) / part;
  }
  const Interval argument = point(x * std::numbers::log2e);
  const double ulps = allowed_error(Op::EXP2, dtype, argument, profile).ulps;
  return (ulps + 0.5) * relative + 2.5 * facts.unit_roundoff();
}

Interval decomposed_exp(const Interval& x, DType dtype, const Profile& profile) {
  const Interval image = near_overflow(Op::EXP, dtype, x, exact_image(Op::EXP, dtype, &x));
  if (is_empty(image)) return image;
  const auto off = [&](double operand, double y) {
    const double relative = exp_by_exp2(operand, is_point(x), dtype, profile);
    return std::isinf(y)
               ? 0
               : y * relative + (relative / float_facts(dtype).unit_roundoff()) * ulp(0, dtype);
  };
  const Interval out{image.low - off(x.low, image.low), image.high + off(x.high, image.high),
                     image.nan, false};
  return nearest(out, dtype);
}

/// The core's decomposition of an optional op (rewrite/rules/decompose_*.cpp).
Interval decomposed(Op op, DType dtype, const Interval* x, const Profile& profile) {
  const auto step = [&](Op which, const Interval& a, const Interval& b = {}) {
    const Interval operands[] = {a, b, {}};
    return apply(which, dtype, operands, profile);
  };
  switch (op) {
    case Op::FDIV:
      return step(Op::MUL, x[0], step(Op::RECIP, x[1]));
    case Op::FMA:
      return step(Op::ADD, step(Op::MUL, x[0], x[1]), x[2]);
    case Op::LN: {  // half a unit for the constant, which may be one of the result
      const Interval log2 = step(Op::LOG2, x[0]);
      return widen(step(Op::MUL, log2, point(std::numbers::ln2)), {.ulps = 1}, dtype);
    }
    case Op::COS: {  // 1 - 2 sin(x/2)^2
      const Interval sine = step(Op::SIN, step(Op::MUL, x[0], point(0.5)));
      Interval square = step(Op::MUL, sine, sine);
      if (contains(sine, 0)) square.low = std::max(square.low, 0.0);
      return step(Op::ADD, point(1), step(Op::MUL, square, point(-2)));
    }
    case Op::EXP:
      return finish(decomposed_exp(x[0], dtype, profile), dtype, profile);
    default:  // exact: the decomposition has the same results
      return {kInfinity, -kInfinity, false, false};
  }
}

bool may_decompose(Op op, const Profile& profile) {
  return is_optional(op) && (!profile.has(op) || (op == Op::FMA && !profile.strict));
}

}  // namespace

Interval exact_image(Op op, DType dtype, const Interval* x) {
  const int arity = op_info(op).arity;
  bool points = true;
  for (int k = 0; k < arity; ++k) points &= is_point(x[k]);
  if (points)
    return point(op == Op::NEG ? -x[0].low
                               : float_op(op, dtype, x[0].low, arity > 1 ? x[1].low : 0,
                                          arity > 2 ? x[2].low : 0));
  Interval out;
  bool nan = false, empty = false;
  for (int k = 0; k < arity; ++k) {
    nan |= x[k].nan;
    empty |= is_empty(x[k]);
  }
  if (empty) return point(std::nan(""));
  switch (op) {
    case Op::ADD:
      out = has_infinity(x[0]) && has_infinity(x[1])
                ? Interval{-kInfinity, kInfinity, true, false}
                : Interval{x[0].low + x[1].low, x[0].high + x[1].high, false, false};
      break;
    case Op::SUB: {
      const Interval operands[] = {x[0], negate(x[1])};
      out = exact_image(Op::ADD, dtype, operands);
      break;
    }
    case Op::MUL:
      out = multiply(x[0], x[1]);
      break;
    case Op::FDIV:
      out = divide(x[0], x[1]);
      break;
    case Op::RECIP:
      out = divide(point(1), x[0]);
      break;
    case Op::NEG:
      out = negate(x[0]);
      break;
    case Op::SQRT:
    case Op::LOG2:
    case Op::LN:
      out = increasing(op, dtype, x[0], 0);
      break;
    case Op::EXP2:
    case Op::EXP:
    case Op::TRUNC:
    case Op::FLOOR:
      out = increasing(op, dtype, x[0], -kInfinity);
      break;
    case Op::SIN:
    case Op::COS:
      out = wave(op, dtype, x[0]);
      break;
    case Op::MAX:
    case Op::MIN:
      out = {float_op(op, dtype, x[0].low, x[1].low, 0),
             float_op(op, dtype, x[0].high, x[1].high, 0), false, false};
      break;
    case Op::FMA:
      out = fused(x[0], x[1], x[2], dtype);
      break;
    case Op::CAST:
    case Op::WHERE:
#define TN_WITHOUT_INT
#define TN_WITHOUT_COMPARE
#include "core/ir/not_elementwise.def"
      fail(ErrorKind::kInternal, "[interval] expected an op on floats, got {}", op_info(op).text);
  }
  out.nan |= nan;
  return out;
}

namespace {

/// An operand as the device reads it: perhaps flushed.
Interval operand(Op op, int k, Interval x, DType dtype, const Profile& profile) {
  if (profile.numerics & kFlushInput) x = flush(flush(x, dtype), compute_dtype(dtype, profile));
  // Without signed zeros a zero has reciprocals of both signs.
  if ((profile.numerics & kNoSignedZero) && x.low == 0 && x.high == 0) {
    x.low = -0.0;
    x.high = 0.0;
    if (op == Op::RECIP || (op == Op::FDIV && k == 1))
      x.high = std::numeric_limits<double>::denorm_min();
  }
  return x;
}

/// A device that compares flushed operands finds two subnormals equal, and may return either
/// unflushed.
Interval or_a_subnormal(const Interval* x, double least_normal, Interval image) {
  Interval parts[2];
  for (int k = 0; k < 2; ++k) {
    parts[k] = {std::max(x[k].low, -least_normal), std::min(x[k].high, least_normal), false, false};
    if (!(parts[k].low <= parts[k].high)) return image;
  }
  return hull(image, hull(parts[0], parts[1]));
}

/// The range of the device's instruction in the computing dtype.
Interval native(Op op, DType wide, const Interval* x, const Profile& profile) {
  Interval image = exact_image(op, wide, x);
  if (!rounds(op)) return image;
  const bool brief = is_short_f32(wide);  // computed in f32
  const DType first = brief ? DType::kF32 : wide;
  const AllowedError error = allowed_error(op, first, x[0], profile);
  image = near_overflow(op, first, x[0], image);
  const bool grows = !profile.strict && op_family(op) == OpFamily::POWER;
  if (grows && !is_point(x[0]) && !is_empty(x[0])) {        // an error for each end
    const double next = std::min(x[0].low + 1, x[0].high);  // units grow once in an octave
    const AllowedError low = allowed_error(op, first, {x[0].low, next, false, false}, profile);
    const AllowedError high = allowed_error(op, first, point(x[0].high), profile);
    image = {settle_in(image, low, first).low, settle_in(image, high, first).high, image.nan,
             false};
  } else if (error.unbounded) {  // out of the profile's range, but still a sine
    image = {-1, 1, image.nan, false};
    image = settle_in(image, {.absolute = 0.01}, first);
  } else {
    image = settle_in(image, error, first);
    if (!profile.strict) image = inherited_error(op, first, x, image);
  }
  return brief ? outside(image, wide, profile.strict ? 0 : 1) : image;
}

bool is_transcendental(Op op) {
  const OpFamily family = op_family(op);
  return family == OpFamily::POWER || family == OpFamily::LOG || family == OpFamily::ANGLE;
}

/// True if an f64 product is exact, as far as f64 can tell: the remainder of a small product would
/// be subnormal.
bool is_exact_product(double x, double y, double product) {
  if (x == 0 || y == 0) return true;
  constexpr double kSmall = 0x1p-960;
  return std::abs(product) >= kSmall && std::fma(x, y, -product) == 0;
}

/// Range of a product that is contracted (FMA) and so not rounded. Wider by a unit of f64 on both
/// sides: at a tie the smallest addend decides the rounding.
Interval unrounded(const Interval* x, const Interval& product, DType wide) {
  const Interval image = exact_image(Op::MUL, wide, x);
  if (is_empty(image)) return product;
  if (is_point(x[0]) && is_point(x[1])) {
    const bool exact = wide == DType::kF64 ? is_exact_product(x[0].low, x[1].low, image.low)
                                           : round_to(image.low, wide) == image.low;
    if (exact || (wide != DType::kF64 && std::isinf(image.low))) return product;
  }
  const double max = std::numeric_limits<double>::max();
  return hull(product, {std::min(std::nextafter(image.low, -kInfinity), max),
                        std::max(std::nextafter(image.high, kInfinity), -max), false, false});
}

}  // namespace

bool ends_in_rounded_product(Op op, DType dtype, const Interval* x, const Profile& profile) {
  if (op == Op::FDIV || op == Op::LN || op == Op::EXP) return may_decompose(op, profile);
  if (op != Op::MUL || is_empty(x[0]) || is_empty(x[1])) return false;
  if (!is_point(x[0]) || !is_point(x[1])) return true;
  const double product = x[0].low * x[1].low;
  if (dtype == DType::kF64) return !is_exact_product(x[0].low, x[1].low, product);
  return !std::isnan(product) && round_to(product, dtype) != product;
}

Interval apply(Op op, DType dtype, const Interval* x, const Profile& profile) {
  const int arity = op_info(op).arity;
  const DType wide = compute_dtype(dtype, profile);
  Interval in[3];
  for (int k = 0; k < arity; ++k) {
    if (x[k].any || (x[k].nan && (profile.numerics & kNoNan))) return anything();
    if ((profile.numerics & kNoInf) && has_infinity(x[k])) return anything();
    in[k] = operand(op, k, x[k], dtype, profile);
  }
  Interval image = native(op, wide, in, profile);
  if (image.any) return image;
  if (op_family(op) == OpFamily::EXTREME && (profile.numerics & kFlushInput))
    image = or_a_subnormal(in, float_facts(dtype).min_normal(), image);
  Interval out = finish(image, dtype, profile);
  // Rounded once, as in the reference, or via the computing dtype.
  if (wide != dtype && rounds(op)) out = hull(out, nearest(exact_image(op, wide, in), dtype));
  if (may_decompose(op, profile)) {
    // Steps run in the computing dtype, or in f32; only the result is rounded to the narrow dtype.
    const DType steps = is_transcendental(op) && dtype_size(wide) < 4 ? DType::kF32 : wide;
    const Interval other = decomposed(op, steps, in, profile);
    if (other.any) return anything();
    out = hull(out, steps == dtype ? other : nearest(other, dtype));
  }
  if (op_family(op) == OpFamily::POWER) out.low = std::max(out.low, 0.0);  // never negative
  if (op == Op::MUL && (profile.numerics & kContract)) out = unrounded(in, out, wide);
  return out;
}

}  // namespace tenon::reference
