// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exponentials, logarithms and hyperbolic functions that stay exact near 0 and do not overflow.
#include <cmath>
#include <numbers>

#include "frontend/tensor/formula.hpp"

namespace tenon {
namespace {

using std::numbers::ln2;

/// (e^x - 1) / x on [-0.5, 0.5] is 2 P(x^2) / (Q(x^2) - x P(x^2)): Cephes, cprob/unity.c. In f32
/// Taylor's series ends after x^8.
Tensor expm1_near(const Tensor& x) {
  if (!is_double(x))
    return x * polynomial(
                   x, {1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1});
  const Tensor z = x * x;
  const Tensor p = x * polynomial(z, {1.2617719307481059087798e-4, 3.0299440770744196129956e-2,
                                      9.9999999999999999991025e-1});
  const Tensor q = polynomial(z, {3.0019850513866445504159e-6, 2.5244834034968410419224e-3,
                                  2.2726554820815502876593e-1, 2.0000000000000000000897});
  const Tensor half = p / (q - p);
  return half + half;
}

Tensor expm1_of(const Tensor& x) {
  const Tensor near = magnitude(x) < 0.5;
  const Tensor inside = where(near, x, constant_like(x, 0));
  return where(near, expm1_near(inside), x.exp() - 1);
}

/// ln(1 + x) - x + x^2/2 over x^3, for 1 + x in [sqrt(1/2), sqrt(2)]: Cephes, single/logf.c and
/// cprob/unity.c.
Tensor log1p_tail(const Tensor& x) {
  if (!is_double(x))
    return polynomial(
        x, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
            -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  const Tensor p = polynomial(
      x, {4.5270000862445199635215e-5, 4.9854102823193375972212e-1, 6.5787325942061044846969,
          2.9911919328553073277375e1, 6.0949667980987787057556e1, 5.7112963590585538103336e1,
          2.0039553499201281259648e1});
  const Tensor q = polynomial(
      x, {1, 1.5062909083469192043167e1, 8.3047565967967209469434e1, 2.2176239823732856465394e2,
          3.0909872225312059774938e2, 2.1642788614495947685003e2, 6.0118660497603843919306e1});
  return p / q;
}

Tensor log1p_of(const Tensor& x) {
  const Tensor sum = x + 1;
  const Tensor near = (sum > std::numbers::sqrt2 / 2) & (sum < std::numbers::sqrt2);
  const Tensor inside = where(near, x, constant_like(x, 0));
  const Tensor z = inside * inside;
  return where(near, inside + (z * -0.5 + inside * (z * log1p_tail(inside))),
               where(near, constant_like(x, 1), sum).log());
}

/// The series of sinh, which ends below a unit in the last place on [-1, 1].
Tensor sinh_near(const Tensor& x) {
  const Tensor z = x * x;
  const Tensor sum =
      is_double(x) ? polynomial(z, {1.0 / 355687428096000, 1.0 / 1307674368000, 1.0 / 6227020800,
                                    1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6})
                   : polynomial(z, {1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6});
  return x + x * (z * sum);
}

/// ln of large arguments, where their squares would overflow: ln(2 a) = ln(1 + a) + ln(2).
Tensor log1p_or_log_of_twice(const Tensor& large, const Tensor& a, const Tensor& u) {
  return log1p_of(where(large, a, u)) + where(large, constant_like(a, ln2), constant_like(a, 0));
}

Tensor is_large(const Tensor& x) { return x > (is_double(x) ? 0x1p60 : 0x1p28); }

}  // namespace

Tensor expm1(const Tensor& x) { return in_float(x, expm1_of); }
Tensor log1p(const Tensor& x) { return in_float(x, log1p_of); }
Tensor log10(const Tensor& x) {
  return in_float(x, [](const Tensor& v) { return v.log() * std::numbers::log10e; });
}

Tensor logaddexp(const Tensor& a, const Tensor& b) {
  return in_float("logaddexp", a, b, [](const Tensor& x, const Tensor& y) {
    const Tensor way = where(x == y, constant_like(x, 0), x - y);  // not Inf - Inf
    return x.maximum(y) + log1p_of((-magnitude(way)).exp());
  });
}

Tensor xlogy(const Tensor& x, const Tensor& y) {
  return in_float("xlogy", x, y, [](const Tensor& v, const Tensor& w) {
    // A logarithm that is no number does not count; one that is makes the slope by x.
    const Tensor none = (v == 0) & ((w <= 0) | (w == kInfinity));
    return where(none, constant_like(v, 0), v * where(none, constant_like(w, 1), w).log());
  });
}

Tensor sinh(const Tensor& x) {
  return in_float(x, [](const Tensor& v) {
    const Tensor size = magnitude(v), near = size < 1;
    const Tensor half = half_exp(where(near, constant_like(v, 1), size));
    const Tensor far = half - 0.25 / half;
    return where(near, sinh_near(where(near, v, constant_like(v, 0))), where(v < 0, -far, far));
  });
}

Tensor cosh(const Tensor& x) {
  const auto value = [](const Tensor& v) {
    const Tensor half = half_exp(v.abs());
    return half + 0.25 / half;
  };
  const auto slope = [](const Tensor& v, const Tensor& /*y*/) { return sinh(v); };
  return in_float(x, [&](const Tensor& v) { return with_slope("cosh", v, value, slope); });
}

Tensor tanh(const Tensor& x) {
  const auto value = [](const Tensor& v) {
    // From 1 - 2^-26 and 1 - 2^-57 on, the result rounds to 1.
    const double end = is_double(v) ? 20 : 10;
    const Tensor size = magnitude(v);
    const Tensor within = where(size > end, constant_like(v, end), size);
    if (is_double(v)) {
      const Tensor e = expm1_of(within + within);
      return odd(v, e / (e + 2));
    }
    // Near 0 the form with e cancels; there Cephes' polynomial, single/tanhf.c.
    const Tensor near = size < 0.625;
    const Tensor inside = where(near, v, constant_like(v, 0)), z = inside * inside;
    const Tensor p = polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                                    1.33314422036e-1, -3.33332819422e-1});
    const Tensor far = 1 - 2 / ((within + within).exp() + 1);
    return where(near, (p * z + 1) * inside, where(v < 0, -far, far));
  };
  const auto gradient = [](const Tensor& /*x*/, const Tensor& y, const Tensor& g) {
    return g * ((1 + y) * (1 - y));
  };
  return in_float(x, [&](const Tensor& v) { return with_gradient("tanh", v, value, gradient); });
}

Tensor asinh(const Tensor& x) {
  return in_float(x, [](const Tensor& v) {
    const Tensor size = magnitude(v), large = is_large(size);
    const Tensor a = where(large, constant_like(v, 1), size), z = a * a;
    return odd(v, log1p_or_log_of_twice(large, size, a + z / ((z + 1).sqrt() + 1)));
  });
}

Tensor acosh(const Tensor& x) {
  const auto value = [](const Tensor& v) {
    const Tensor large = is_large(v);
    const Tensor t = where(large, constant_like(v, 1), v - 1);
    const Tensor u = t + (t + t + t * t).sqrt();
    return log1p_or_log_of_twice(large, v, where(v < 1, constant_like(v, -2), u));  // NaN below 1
  };
  // In two roots: x^2 may overflow.
  const auto slope = [](const Tensor& v, const Tensor& /*y*/) {
    return 1 / ((v - 1).sqrt() * (v + 1).sqrt());
  };
  return in_float(x, [&](const Tensor& v) { return with_slope("acosh", v, value, slope); });
}

Tensor atanh(const Tensor& x) {
  const auto value = [](const Tensor& v) {
    const Tensor size = magnitude(v);
    const Tensor a = where(size > 1, constant_like(v, std::nan("")), size), twice = a + a;
    return odd(v, log1p_of(twice + twice * a / (1 - a)) * 0.5);
  };
  const auto slope = [](const Tensor& v, const Tensor& /*y*/) {
    const Tensor size = magnitude(v);  // 1 - |x| is no -0
    const Tensor a = where(size > 1, constant_like(v, std::nan("")), size);
    return 1 / ((1 - a) * (1 + a));
  };
  return in_float(x, [&](const Tensor& v) { return with_slope("atanh", v, value, slope); });
}

}  // namespace tenon
