// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops on single intervals of floats, with the error that a profile allows. Private to the module.
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

/// Distance of neighbours at y's magnitude.
double ulp(double y, DType dtype);
double round_to(double y, DType dtype);

/// f16, bf16 and fp8 that the device has no arithmetic on are computed in f32 and cast back.
DType compute_dtype(DType dtype, const Profile& profile);
/// binary16, whose errors have rows of their own.
inline bool is_half(DType dtype) { return is_ieee(dtype) && dtype_size(dtype) == 2; }
/// bf16 and fp8: arithmetic on them is f32's, cut or rounded.
inline bool is_short_f32(DType dtype) {
  return is_float(dtype) && dtype_size(dtype) < 4 && !is_ieee(dtype);
}

/// What an op may be off, for an argument in the interval. Without any of it the op is correctly
/// rounded.
struct AllowedError {
  double ulps = 0;      ///< of the computing dtype, at the result
  double absolute = 0;  ///< where that is more
  bool unbounded = false;
};
AllowedError allowed_error(Op op, DType dtype, const Interval& argument, const Profile& profile);
/// Whether the op makes numbers that its operands do not have.
bool rounds(Op op);
/// What the table says otherwise than by units: a relaxed square root or division of the operands,
/// given what its plain row allows.
Interval inherited_error(Op op, DType dtype, const Interval* x, const Interval& plain);

/// -0 is below +0.
inline double lesser(double a, double b) { return a < b || (a == b && std::signbit(a)) ? a : b; }
inline double greater(double a, double b) { return a > b || (a == b && !std::signbit(a)) ? a : b; }

Interval point(double x);  ///< NaN: the set that holds only NaN
Interval anything();
Interval hull(const Interval& a, const Interval& b);
inline double magnitude(const Interval& x) { return std::max(std::abs(x.low), std::abs(x.high)); }
/// One number, and one sign if it is zero.
inline bool is_point(const Interval& x) {
  return x.low == x.high && std::signbit(x.low) == std::signbit(x.high) && !x.nan && !x.any;
}
inline bool is_empty(const Interval& x) { return x.low > x.high; }
inline bool has_infinity(const Interval& x) {
  return !is_empty(x) && (x.low == -kInfinity || x.high == kInfinity);
}
inline bool contains(const Interval& x, double y) { return x.low <= y && y <= x.high; }

/// Subnormals that may read as, or become, zero.
Interval flush(const Interval& x, DType dtype);
/// Both ends to the nearest number of the format.
Interval nearest(const Interval& x, DType dtype);
/// The numbers of the format inside: what a bound on the result, all rounding done, allows.
Interval inside(const Interval& x, DType dtype);
/// The numbers around: cut instead of rounded, and so many neighbours more. One of the format
/// stays.
Interval outside(const Interval& x, DType dtype, double further);
Interval widen(const Interval& x, const AllowedError& error, DType dtype);
/// What an image with an error of the op's own may come out as, rounded to the nearest number of
/// the computing dtype.
Interval settle_in(const Interval& image, const AllowedError& error, DType dtype);
/// The last steps of an op whose results in the computing dtype are `x`: flushing, and rounding to
/// the narrow dtype that was asked for.
Interval finish(Interval x, DType dtype, const Profile& profile);

/// The image without any rounding but double's own.
Interval exact_image(Op op, DType dtype, const Interval* x);
/// An elementwise op from floats to floats, optional ones and their decompositions too.
Interval apply(Op op, DType dtype, const Interval* x, const Profile& profile);

/// Whether the op's last step may be a multiplication that rounds: one that a sum of its results
/// may be fused with.
bool ends_in_rounded_product(Op op, DType dtype, const Interval* x, const Profile& profile);

/// Terms in any order, and any of their roundings; `fused`: the last rounding of terms may be
/// missing.
Interval sum(const std::vector<Interval>& terms, DType accumulator, bool fused,
             const Profile& profile);
Interval product(const std::vector<Interval>& terms, DType accumulator, const Profile& profile);

/// Whether the op on exact operands has but one right answer.
bool is_pinned(Op op, DType operand, DType result, const Profile& profile);

}  // namespace tenon::reference
