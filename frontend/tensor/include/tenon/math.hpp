// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise mathematics; what is not here is a member of Tensor (exp, log, sqrt, sin, ...).
//
// All take any shape and keep it; two operands broadcast and promote. Functions of real numbers
// want floats; integers and bools are cast to f32 before, and f16, bf16 and fp8 are computed in f32
// and rounded once. Errors in units in the last place (ULP) are in docs/tensor.md.
#pragma once

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

// Sign and whole numbers. Integers stay as they are where the result is theirs.
TENON_API Tensor sign(const Tensor& x);   ///< -1, 0 or 1; NaN for NaN. Throws for bool
TENON_API Tensor ceil(const Tensor& x);   ///< toward infinity
TENON_API Tensor round(const Tensor& x);  ///< ties to even
TENON_API Tensor frac(const Tensor& x);   ///< x - trunc(x): the sign of x
/// min(max(x, low), high): high where low > high; NaN stays.
TENON_API Tensor clip(const Tensor& x, const Tensor& low, const Tensor& high);
TENON_API Tensor copysign(const Tensor& magnitude, const Tensor& sign);  ///< sign of zeros and NaN
TENON_API Tensor heaviside(const Tensor& x, const Tensor& at_zero);      ///< 0, at_zero or 1
TENON_API Tensor degrees(const Tensor& radians);                         ///< x * 180 / pi
TENON_API Tensor radians(const Tensor& degrees);                         ///< x * pi / 180

// Exponentials and logarithms.
TENON_API Tensor expm1(const Tensor& x);                       ///< e^x - 1, exact near 0
TENON_API Tensor log1p(const Tensor& x);                       ///< ln(1 + x), exact near 0
TENON_API Tensor log10(const Tensor& x);                       ///< ln(x) / ln(10)
TENON_API Tensor logaddexp(const Tensor& a, const Tensor& b);  ///< ln(e^a + e^b)
TENON_API Tensor xlogy(const Tensor& x, const Tensor& y);      ///< x ln(y); 0 where x is 0
TENON_API Tensor lerp(const Tensor& a, const Tensor& b, const Tensor& weight);  ///< a + w (b - a)

// Angles.
TENON_API Tensor tan(const Tensor& x);                     ///< sin(x) / cos(x)
TENON_API Tensor asin(const Tensor& x);                    ///< in [-pi/2, pi/2]; NaN beyond [-1, 1]
TENON_API Tensor acos(const Tensor& x);                    ///< in [0, pi]; NaN beyond [-1, 1]
TENON_API Tensor atan(const Tensor& x);                    ///< in [-pi/2, pi/2]
TENON_API Tensor atan2(const Tensor& y, const Tensor& x);  ///< the angle of (x, y), in [-pi, pi]
TENON_API Tensor hypot(const Tensor& a, const Tensor& b);  ///< sqrt(a^2 + b^2), without overflow

// Hyperbolic functions.
TENON_API Tensor sinh(const Tensor& x);   ///< (e^x - e^-x) / 2
TENON_API Tensor cosh(const Tensor& x);   ///< (e^x + e^-x) / 2
TENON_API Tensor asinh(const Tensor& x);  ///< ln(x + sqrt(x^2 + 1))
TENON_API Tensor acosh(const Tensor& x);  ///< ln(x + sqrt(x^2 - 1)); NaN below 1
TENON_API Tensor atanh(const Tensor& x);  ///< ln((1 + x) / (1 - x)) / 2; NaN beyond [-1, 1]

/// The error function: 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.
TENON_API Tensor erf(const Tensor& x);
TENON_API Tensor erfc(const Tensor& x);  ///< 1 - erf(x), exact where that is near 0

// Powers and division.
/// x to the power y as C's pow has it: 1 for y = 0 and x = 1 whatever the other, NaN for negative x
/// and broken y. A number y goes by Tensor::pow. Integers wrap; negative powers of integers are
/// those of 1/x, truncated.
TENON_API Tensor pow(const Tensor& x, const Tensor& y);
TENON_API Tensor cbrt(const Tensor& x);                     ///< real, of negative x too
TENON_API Tensor divide(const Tensor& a, const Tensor& b);  ///< a / b of floats; integers as f32
TENON_API Tensor floor_divide(const Tensor& a,
                              const Tensor& b);  ///< floor(a / b); integers: 0 by 0
/// a - b floor(a / b), the sign of b, as Python's %; integers give 0 where b is 0, floats NaN.
/// Exact while |a / b| < 2^60 (f64: 2^140), as is fmod; beyond, digits are lost.
TENON_API Tensor remainder(const Tensor& a, const Tensor& b);
TENON_API Tensor fmod(const Tensor& a, const Tensor& b);  ///< a - b trunc(a / b), the sign of a

// Minima and maxima that leave NaN aside; Tensor::maximum and minimum hand it on.
TENON_API Tensor fmax(const Tensor& a, const Tensor& b);  ///< the larger number
TENON_API Tensor fmin(const Tensor& a, const Tensor& b);  ///< the smaller number

}  // namespace tenon
