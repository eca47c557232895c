// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops on intervals of floats, with the error that a profile allows. Private to the module.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "core/interval/interval.hpp"

namespace tenon::reference {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct FloatFacts {
  int precision;  ///< significant bits
  int min_exponent;
  double max;
  double min_normal() const;
  double unit_roundoff() const;
};
FloatFacts float_facts(DType dtype);

/// Unit in the last place at y's magnitude.
double ulp(double y, DType dtype);
double round_to(double y, DType dtype);

/// The dtype that a device computes in: f32 for narrower floats without arithmetic.
DType compute_dtype(DType dtype, const Profile& profile);
/// binary16, whose errors have rows of their own.
inline bool is_half(DType dtype) { return is_ieee(dtype) && dtype_size(dtype) == 2; }
/// bf16 and fp8: arithmetic on them is f32's, cut or rounded.
inline bool is_short_f32(DType dtype) {
  return is_float(dtype) && dtype_size(dtype) < 4 && !is_ieee(dtype);
}

/// Error that an op may have, for an argument in an interval. Zero: correctly rounded.
struct AllowedError {
  double ulps = 0;      ///< of the computing dtype, at the result
  double absolute = 0;  ///< if that is larger
  bool unbounded = false;
};
AllowedError allowed_error(Op op, DType dtype, const Interval& argument, const Profile& profile);
/// True if results of the op may need rounding.
bool rounds(Op op);
/// Widens `plain`, the result with allowed_error, by errors that the table gives as formulas:
/// relaxed square root and division.
Interval inherited_error(Op op, DType dtype, const Interval* x, const Interval& plain);

/// -0 is below +0.
inline double lesser(double a, double b) { return a < b || (a == b && std::signbit(a)) ? a : b; }
inline double greater(double a, double b) { return a > b || (a == b && !std::signbit(a)) ? a : b; }

Interval point(double x);  ///< NaN: the set that holds only NaN
Interval anything();
Interval hull(const Interval& a, const Interval& b);
inline double magnitude(const Interval& x) { return std::max(std::abs(x.low), std::abs(x.high)); }
/// A single number, with one sign if it is zero.
inline bool is_point(const Interval& x) {
  return x.low == x.high && std::signbit(x.low) == std::signbit(x.high) && !x.nan && !x.any;
}
inline bool is_empty(const Interval& x) { return x.low > x.high; }
inline bool has_infinity(const Interval& x) {
  return !is_empty(x) && (x.low == -kInfinity || x.high == kInfinity);
}
inline bool contains(const Interval& x, double y) { return x.low <= y && y <= x.high; }

/// Adds zero to intervals with subnormals.
Interval flush(const Interval& x, DType dtype);
/// Rounds both ends to the nearest number of the format.
Interval nearest(const Interval& x, DType dtype);
/// Rounds both ends inwards: for bounds on results after rounding.
Interval inside(const Interval& x, DType dtype);
/// Rounds both ends outwards, and by `further` units more. A number of the format stays.
Interval outside(const Interval& x, DType dtype, double further);
Interval widen(const Interval& x, const AllowedError& error, DType dtype);
/// An image widened by the op's error and rounded to the computing dtype.
Interval settle_in(const Interval& image, const AllowedError& error, DType dtype);
/// Flushes results in the computing dtype and rounds them to `dtype`.
Interval finish(Interval x, DType dtype, const Profile& profile);

/// The image, computed in double without further rounding.
Interval exact_image(Op op, DType dtype, const Interval* x);
/// An elementwise op from floats to floats, with the decomposition of an optional op.
Interval apply(Op op, DType dtype, const Interval* x, const Profile& profile);

/// True if the op's last step may be a rounding multiplication, which a sum may fuse (FMA).
bool ends_in_rounded_product(Op op, DType dtype, const Interval* x, const Profile& profile);

/// The sum in any order. `fused`: products may be fused with additions and skip their rounding.
Interval sum(const std::vector<Interval>& terms, DType accumulator, bool fused,
             const Profile& profile);
Interval product(const std::vector<Interval>& terms, DType accumulator, const Profile& profile);

/// True if the op has one correct result for exact operands.
bool is_pinned(Op op, DType operand, DType result, const Profile& profile);

}  // namespace tenon::reference
