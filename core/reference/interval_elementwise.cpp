// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images of intervals under elementwise ops, and the decompositions that hints may take.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "core/reference/interval_ops.hpp"
#include "core/support/error.hpp"

namespace tenon::reference {
namespace {

bool has_infinity(const Interval& x) {
  return !is_empty(x) && (x.low == -kInfinity || x.high == kInfinity);
}

/// The hull of values of a function at corners; a NaN corner means that anything may come out.
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
  if (contains(b, 0)) return {-kInfinity, kInfinity, contains(a, 0), false};
  return corners({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
}

/// A function that grows, on the part of x at or above `domain`; below it is NaN.
Interval increasing(Op op, DType dtype, Interval x, double domain) {
  const bool outside = x.low < domain;
  if (x.high < domain) return point(std::nan(""));
  if (outside) x.low = domain;
  return {float_op(op, dtype, x.low, 0, 0), float_op(op, dtype, x.high, 0, 0), outside, false};
}

/// Sine or cosine: the ends, and the crests between them.
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

/// The way the core's own rules compute a hint (rewrite/rules/decompose_*.cpp).
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
    case Op::LN: {  // half a unit for the constant
      const Interval log2 = step(Op::LOG2, x[0]);
      return widen(step(Op::MUL, log2, point(std::numbers::ln2)), {.ulps = 1},
                   compute_dtype(dtype, profile));
    }
    case Op::COS: {  // 1 - 2 sin(x/2)^2
      const Interval sine = step(Op::SIN, step(Op::MUL, x[0], point(0.5)));
      Interval square = step(Op::MUL, sine, sine);
      if (contains(sine, 0)) square.low = std::max(square.low, 0.0);
      return step(Op::ADD, point(1), step(Op::MUL, square, point(-2)));
    }
    case Op::EXP: {  // exp2 of the leading bits, times a polynomial: two more units
      AllowedError error = allowed_error(Op::EXP2, compute_dtype(dtype, profile),
                                         multiply(x[0], point(std::numbers::log2e)), profile);
      error.ulps += 2;
      return finish(exact_image(op, dtype, x), error, dtype, profile);
    }
    default:  // exact: the decomposition gives what the op gives
      return {kInfinity, -kInfinity, false, false};
  }
}

bool may_decompose(Op op, const Profile& profile) {
  return is_hint(op) && (!profile.has(op) || (op == Op::FMA && !profile.strict));
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
    default:
      fail(ErrorKind::kInternal, "[interval] expected an op on floats, got {}", op_info(op).text);
  }
  out.nan |= nan;
  return out;
}

Interval apply(Op op, DType dtype, const Interval* x, const Profile& profile) {
  const int arity = op_info(op).arity;
  const DType wide = compute_dtype(dtype, profile);
  Interval in[3];
  for (int k = 0; k < arity; ++k) {
    in[k] = x[k];
    if (in[k].any || (in[k].nan && (profile.numerics & kNoNan))) return anything();
    if ((profile.numerics & kNoInf) && has_infinity(in[k])) return anything();
    if (profile.numerics & kFlushInput) {
      in[k] = flush(in[k], dtype);
      if (wide != dtype) in[k] = flush(in[k], wide);
    }
    // A zero whose sign is free has reciprocals of both signs.
    if ((profile.numerics & kNoSignedZero) && in[k].low == 0 && in[k].high == 0) {
      in[k].low = -0.0;
      in[k].high = 0.0;
      if (op == Op::RECIP || (op == Op::FDIV && k == 1))
        in[k].high = std::numeric_limits<double>::denorm_min();
    }
  }
  const Interval image = exact_image(op, dtype, in);
  AllowedError error = allowed_error(op, wide, in[0], profile);
  if (error.unbounded && (op == Op::SIN || op == Op::COS)) {
    Interval all{-1, 1, image.nan, false};  // out of the profile's range, but still a sine
    return finish(all, {.absolute = 0.01}, dtype, profile);
  }
  Interval out = finish(image, error, dtype, profile);
  // Reached in one rounding, as the reference does, or by way of the computing dtype.
  if (wide != dtype && !is_empty(image))
    out = hull(out, {round_to(image.low, dtype), round_to(image.high, dtype), false, false});
  if (may_decompose(op, profile)) {
    // The steps run in the computing dtype; only what comes out is rounded to the narrow one.
    Interval other = decomposed(op, wide, in, profile);
    if (other.any) return anything();
    if (wide != dtype && !is_empty(other)) {
      other.low = round_to(other.low, dtype);
      other.high = round_to(other.high, dtype);
    }
    out = hull(out, other);
  }
  if ((op == Op::EXP2 || op == Op::EXP) && out.low <= 0) out.low = 0.0;  // never negative
  if (op == Op::MUL && (profile.numerics & kContract) && !is_empty(image))
    out = hull(out, {std::nextafter(image.low, -kInfinity), std::nextafter(image.high, kInfinity),
                     false, false});
  return out;
}

}  // namespace tenon::reference
