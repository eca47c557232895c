// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of allowed errors (docs/conformance.md). Where a format is not named there: f64 has
// f32's row in its own units. Relaxed rows are those of the Vulkan specification 1.3, appendix A,
// "Precision of Individual Operations", for single and half precision. A unit in the last place is
// the distance of neighbours in the binade of the exact result.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/interval/ops.hpp"
#include "core/support/error.hpp"

namespace tenon::reference {
namespace {

/// From here on exp2 is 0 or infinity in every format.
constexpr double kBeyondExp = 1100;
constexpr double kDivision = 2.5, kInverseSqrt = 2;

bool overlaps(const Interval& x, double low, double high) { return x.low <= high && x.high >= low; }

AllowedError relaxed_error(OpFamily family, DType dtype, const Interval& x) {
  const bool half = is_half(dtype);
  switch (family) {
    case OpFamily::QUOTIENT:
      return {.ulps = kDivision};
    case OpFamily::ROOT:  // in plain units; inherited_error has what the formula adds at some
                          // operands
      return {.ulps = kInverseSqrt + kDivision};
    case OpFamily::POWER:
      return {.ulps = (half ? 1 : 3) + 2 * std::min(magnitude(x), kBeyondExp)};
    case OpFamily::LOG:
      if (!overlaps(x, 0.5, 2)) return {.ulps = 3};
      return {.ulps = 3, .absolute = std::ldexp(1, half ? -7 : -21)};
    case OpFamily::ANGLE:
      if (magnitude(x) > std::numbers::pi_v<float>) return {.unbounded = true};
      return {.absolute = std::ldexp(1, half ? -7 : -11)};
    default:  // correctly rounded
      return {};
  }
}

AllowedError strict_error(OpFamily family, DType dtype) {
  const bool half = is_half(dtype);
  switch (family) {
    case OpFamily::POWER:
    case OpFamily::LOG:
      return {.ulps = half ? 2.0 : 3.0};
    case OpFamily::ANGLE:
      return {.ulps = half ? 2.0 : 4.0};
    default:
      return {};
  }
}

/// "Inherited from 1.0 / inversesqrt()": the formula's largest error, on both sides of sqrt(x).
Interval square_root(double x, DType dtype) {
  const double root = std::sqrt(x);
  if (!(x > 0) || std::isinf(x)) return point(root);
  const Interval inverse = widen(point(1 / root), {.ulps = kInverseSqrt}, dtype);
  const Interval found =
      widen({1 / inverse.high, 1 / inverse.low, false, false}, {.ulps = kDivision}, dtype);
  const double off = std::max(root - found.low, found.high - root);
  return {root - off, root + off, false, false};
}

/// A divisor outside of [2^-n, 2^n], with a fast reciprocal: zero above, infinity below. Vulkan
/// promises nothing there.
Interval far_division(const Interval& a, const Interval& b, DType dtype, Interval x) {
  const double normal = float_facts(dtype).min_normal();
  const double most = magnitude(b);
  if (most > 1 / normal && !(is_point(b) && std::isinf(b.low)))
    x = hull(x, {-0.0, 0.0, false, false});
  const bool below = b.low < normal && b.high > -normal && (b.low != 0 || b.high != 0);
  if (!below) return x;
  if (contains(a, 0)) return {-kInfinity, kInfinity, true, x.any};
  if (x.high > 0) x.high = kInfinity;
  if (x.low < 0) x.low = -kInfinity;
  return x;
}

}  // namespace

bool rounds(Op op) {
  switch (op_family(op)) {
    case OpFamily::EXTREME:
    case OpFamily::SIGN:
    case OpFamily::WHOLE:
    case OpFamily::SELECT:
      return false;
    default:
      return true;
  }
}

AllowedError allowed_error(Op op, DType dtype, const Interval& argument, const Profile& profile) {
  return profile.strict ? strict_error(op_family(op), dtype)
                        : relaxed_error(op_family(op), dtype, argument);
}

Interval inherited_error(Op op, DType dtype, const Interval* x, const Interval& plain) {
  if (op == Op::SQRT && !is_empty(x[0]) && x[0].high >= 0) {
    const double least = std::max(x[0].low, 0.0);
    Interval out = hull(square_root(least, dtype), square_root(x[0].high, dtype));
    // Units change at the root's next power of two.
    if (const double power = std::ldexp(1, 2 * (std::ilogb(std::sqrt(least)) + 1));
        least > 0 && power < x[0].high)
      for (const double at : {power, std::nextafter(power, 0)})
        out = hull(out, square_root(at, dtype));
    return hull(plain, nearest(out, dtype));
  }
  if (is_empty(plain) || plain.any) return plain;
  if (op == Op::RECIP) return far_division(point(1), x[0], dtype, plain);
  if (op == Op::FDIV) return far_division(x[0], x[1], dtype, plain);
  return plain;
}

bool is_pinned(Op op, DType operand, DType result, const Profile& profile) {
  if (!is_float(operand) && !is_float(result)) return true;
  // Selection preserves bits, unless the core casts to a wider dtype and back.
  if (op == Op::WHERE) return profile.numerics == 0 || compute_dtype(result, profile) == result;
  if (profile.numerics != 0) return false;
  switch (op) {
    case Op::CAST:
      return true;
    case Op::ADD:
    case Op::SUB:
    case Op::MUL:
      return !is_short_f32(compute_dtype(result, profile));
    case Op::RECIP:
    case Op::SQRT:
      return profile.strict && !is_short_f32(compute_dtype(result, profile));
    case Op::FDIV:
      return profile.strict && profile.has(op) && !is_short_f32(compute_dtype(result, profile));
    case Op::FMA:
      return profile.strict && profile.has(op) && is_float(result) && dtype_size(result) >= 4;
    default:
      return !rounds(op) || op_family(op) == OpFamily::ORDER;
  }
}

}  // namespace tenon::reference
