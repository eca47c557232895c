// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The error function and its complement: in f32 as Cephes' ndtrf.c, in f64 as fdlibm's s_erf.c.
#include <cmath>
#include <numbers>

#include "frontend/tensor/formula.hpp"

namespace tenon {
namespace {

/// erf(x) / x - 1 for |x| < 1 (f32), 0.84375 (f64).
Tensor erf_tail(const Tensor& x) {
  const Tensor z = x * x;
  if (!is_double(x))
    return polynomial(
        z, {7.853861353153693e-5, -8.010193625184903e-4, 5.188327685732524e-3,
            -2.685381193529856e-2, 1.128358514861418e-1, -3.761262582423300e-1, 0.128379165726710});
  const Tensor p = polynomial(
      z, {-2.37630166566501626084e-05, -5.77027029648944159157e-03, -2.84817495755985104766e-02,
          -3.25042107247001499370e-01, 1.28379167095512558561e-01});
  const Tensor q = polynomial(
      z, {-3.96022827877536812320e-06, 1.32494738004321644526e-04, 5.08130628187576562776e-03,
          6.50222499887672944485e-02, 3.97917223959155352819e-01, 1});
  return p / q;
}

double near_end(const Tensor& x) { return is_double(x) ? 0.84375 : 1; }

/// erf(x) of f64 on [0.84375, 1.25], less 0.845..
constexpr double kErfMiddle = 8.45062911510467529297e-01;
Tensor erf_middle(const Tensor& x) {
  const Tensor s = x - 1;
  const Tensor p = polynomial(
      s, {-2.16637559486879084300e-03, 3.54783043256182359371e-02, -1.10894694282396677476e-01,
          3.18346619901161753674e-01, -3.72207876035701323847e-01, 4.14856118683748331666e-01,
          -2.36211856075265944077e-03});
  const Tensor q = polynomial(
      s, {1.19844998467991074170e-02, 1.36370839120290507362e-02, 1.26171219808761642112e-01,
          7.18286544141962662868e-02, 5.40397917702171048937e-01, 1.06420880400844228286e-01, 1});
  return p / q;
}

/// e^(-x^2), of which x^2 is not rounded: with h the leading half of x, x^2 = h^2 + (x - h)(x + h).
Tensor gauss(const Tensor& x) {
  const Tensor h = leading(x);
  return (-(h * h)).exp() * ((h - x) * (h + x)).exp();
}

/// e^(x^2) erfc(x) of f32 for x >= 1.
Tensor scaled_far_single(const Tensor& x) {
  const Tensor q = 1 / x, z = q * q;
  const Tensor below_two =
      polynomial(z, {2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1,
                     -5.824733027278666e-1, 6.210004621745983e-1, -4.944515323274145e-1,
                     3.404879937665872e-1, -2.741127028184656e-1, 5.638259427386472e-1});
  const Tensor from_two = polynomial(
      z, {-1.047766399936249e1, 1.297719955372516e1, -7.495518717768503, 2.921019019210786,
          -1.015265279202700, 4.218463358204948e-1, -2.820767439740514e-1, 5.641895067754075e-1});
  return q * where(x < 2, below_two, from_two);
}

/// ln(x e^(x^2) erfc(x)) + 0.5625 of f64 for x >= 1.25.
Tensor log_far_double(const Tensor& x) {
  const Tensor q = 1 / x, s = q * q;
  const Tensor a =
      polynomial(s,
                 {-9.81432934416914548592, -8.12874355063065934246e1, -1.84605092906711035994e2,
                  -1.62396669462573470355e2, -6.23753324503260060396e1, -1.05586262253232909814e1,
                  -6.93858572707181764372e-01, -9.86494403484714822705e-03}) /
      polynomial(s, {-6.04244152148580987438e-02, 6.57024977031928170135, 1.08635005541779435134e2,
                     4.29008140027567833386e2, 6.45387271733267880336e2, 4.34565877475229228821e2,
                     1.37657754143519042600e2, 1.96512716674392571292e1, 1});
  const Tensor b =
      polynomial(s,
                 {-4.83519191608651397019e2, -1.02509513161107724954e3, -6.37566443368389627722e2,
                  -1.60636384855821916062e2, -1.77579549177547519889e1, -7.99283237680523006574e-01,
                  -9.86494292470009928597e-03}) /
      polynomial(s, {-2.24409524465858183362e1, 4.74528541206955367215e2, 2.55305040643316442583e3,
                     3.19985821950859553908e3, 1.53672958608443695994e3, 3.25792512996573918826e2,
                     3.03380607434824582924e1, 1});
  return where(x < 1 / 0.35, a, b);
}

Tensor erfc_far_double(const Tensor& x) {
  const Tensor h = leading(x);
  const Tensor rest = (h - x) * (h + x) + log_far_double(x);
  return (-(h * h) - 0.5625).exp() * rest.exp() * (1 / x);
}

/// x and erf(x) - x where x is near 0, else erfc(|x|).
struct ErfParts {
  Tensor near, small, erf_rest, erfc;
};
ErfParts parts(const Tensor& x) {
  const Tensor size = magnitude(x), near = size < near_end(x);
  const double end = is_double(x) ? 28 : 11;  // erfc is 0 from here on
  const Tensor one = constant_like(x, 1);
  Tensor far = where(near, one, where(size > end, constant_like(x, end), size));
  const Tensor small = where(near, x, constant_like(x, 0));
  const Tensor rest = small * erf_tail(small);
  if (!is_double(x)) return {near, small, rest, gauss(far) * scaled_far_single(far)};
  const Tensor middle = size < 1.25;
  const Tensor between = where(middle, far, one);
  far = where(middle, constant_like(x, 2), far);
  return {near, small, rest,
          where(middle, 1 - kErfMiddle - erf_middle(between), erfc_far_double(far))};
}

/// 2/sqrt(pi) e^(-x^2); from the end on that is 0.
Tensor erf_gradient(const Tensor& x, const Tensor& /*y*/, const Tensor& adjoint) {
  const double end = is_double(x) ? 28 : 11;
  return adjoint * (gauss(clip(x, -end, end)) * (2 * std::numbers::inv_sqrtpi));
}

}  // namespace

Tensor scaled_erfc(const Tensor& x) {
  const Tensor near = x < (is_double(x) ? 1.25 : 1.0), one = constant_like(x, 1);
  const Tensor below = where(near, x, one), far = where(near, constant_like(x, 2), x);
  const Tensor beyond =
      is_double(x) ? (log_far_double(far) - 0.5625).exp() / far : scaled_far_single(far);
  return where(near, erfc(below) * below.square().exp(), beyond);
}

Tensor erf(const Tensor& x) {
  const auto value = [](const Tensor& v) {
    const ErfParts p = parts(v);
    const Tensor far = 1 - p.erfc;
    return where(p.near, p.small + p.erf_rest, where(v < 0, -far, far));
  };
  return in_float(x, [&](const Tensor& v) { return with_gradient("erf", v, value, erf_gradient); });
}

Tensor erfc(const Tensor& x) {
  const auto value = [](const Tensor& v) {
    const ErfParts p = parts(v);
    // The difference from 1/2 is exact, that from 1 is not.
    const Tensor near =
        where(p.small > 0.25, 0.5 - (p.small - 0.5 + p.erf_rest), 1 - (p.small + p.erf_rest));
    return where(p.near, near, where(v < 0, 2 - p.erfc, p.erfc));
  };
  const auto gradient = [](const Tensor& v, const Tensor& y, const Tensor& g) {
    return -erf_gradient(v, y, g);
  };
  return in_float(x, [&](const Tensor& v) { return with_gradient("erfc", v, value, gradient); });
}

}  // namespace tenon
