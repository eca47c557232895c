// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Angles.
#include <cmath>
#include <numbers>

#include "frontend/tensor/formula.hpp"
#include "tenon/gradient.hpp"

namespace tenon {
namespace {

using std::numbers::pi;

/// (asin(x) - x) / x^3 of z = x^2 <= 1/4: Cephes, single/asinf.c; fdlibm, e_asin.c.
Tensor asin_tail(const Tensor& z) {
  if (!is_double(z))
    return polynomial(
        z, {4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2, 7.4953002686e-2, 1.6666752422e-1});
  const Tensor p = polynomial(
      z, {3.47933107596021167570e-05, 7.91534994289814532176e-04, -4.00555345006794114027e-02,
          2.01212532134862925881e-01, -3.25565818622400915405e-01, 1.66666666666666657415e-01});
  const Tensor q = polynomial(z, {7.70381505559019352791e-02, -6.88283971605453293030e-01,
                                  2.02094576023350569471, -2.40339491173441421878, 1});
  return p / q;
}

/// What asin and acos share: for |x| <= 1/2 asin(x) is value; beyond, acos(|x|) is twice value.
struct ArcSine {
  Tensor far, value;
};
ArcSine arc_sine(const Tensor& x) {
  const Tensor size = magnitude(x), far = size > 0.5;
  const Tensor half = (1 - size) * 0.5;
  // The root's slope is infinite at 0, and right so; elsewhere it is not taken.
  const Tensor root = where(far, half, constant_like(x, 1)).sqrt();
  const Tensor a = where(far, root, x), z = where(far, half, x * x);
  return {far, a + a * (z * asin_tail(z))};
}

/// (atan(t) - t) / t^3 of z = t^2, |t| <= 0.66 in f64 and 0.42 in f32: Cephes, double/atan.c and
/// single/atanf.c.
Tensor atan_tail(const Tensor& z) {
  if (!is_double(z))
    return polynomial(z,
                      {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
  const Tensor p = polynomial(
      z, {-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
          -1.228866684490136173410e2, -6.485021904942025371773e1});
  const Tensor q = polynomial(
      z, {1, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
          4.853903996359136964868e2, 1.945506571482613964425e2});
  return p / q;
}

/// atan(numerator / denominator) for 0 <= numerator <= denominator, less a known multiple of pi/4:
/// with t the quotient, atan(t) = pi/4 + atan((t - 1) / (t + 1)).
Tensor atan_of_quotient(const Tensor& numerator, const Tensor& denominator) {
  const Tensor upper = numerator > denominator * (is_double(numerator) ? 0.66 : 0.41421356);
  const Tensor t = where(upper, numerator - denominator, numerator) /
                   where(upper, numerator + denominator, denominator);
  const Tensor z = t * t;
  const Tensor near = t + t * (z * atan_tail(z));
  return where(upper, near + pi / 4, near);
}

Tensor atan2_of(const Tensor& v, const Tensor& u) {
  const Tensor down = signbit(v), left = signbit(u);
  const Tensor rise = where(down, -v, v), run = where(left, -u, u), steep = rise > run;
  const Tensor small = where(steep, run, rise), large = where(steep, rise, run);
  // Both infinite: 45 degrees. Both zero: 0. The sum of large ones may overflow, products of small
  // ones are not exact.
  const Tensor no_quotient = (small == kInfinity) | (large == 0);
  const Tensor one = constant_like(v, 1), half_of_one = constant_like(v, 0.5);
  const Tensor scale =
      where(large > 1, half_of_one, where(large < 0x1p-60, constant_like(v, 0x1p60), one));
  const Tensor top =
      where(small == kInfinity, half_of_one, where(large == 0, constant_like(v, 0), small * scale));
  const Tensor bottom = where(no_quotient, half_of_one, large * scale);
  const Tensor angle = atan_of_quotient(top, bottom);
  const Tensor quadrant = where(steep, pi / 2 - angle, angle);
  const Tensor half = where(left, pi - quadrant, quadrant);
  const Tensor broken = isnan(v) | isnan(u);
  return where(broken, constant_like(v, std::nan("")), where(down, -half, half));
}

Tensor hypot_of(const Tensor& x, const Tensor& y) {
  const Tensor p = magnitude(x), q = magnitude(y);
  const Tensor large = where(p < q, q, p), small = where(p < q, p, q);
  const Tensor endless = (p == kInfinity) | (q == kInfinity), zero = (p == 0) & (q == 0);
  const Tensor one = constant_like(x, 1);
  const Tensor quotient = where(endless | zero, one, small) / where(endless | zero, one, large);
  const Tensor length = large * (quotient * quotient + 1).sqrt();
  return where(endless, constant_like(x, kInfinity), where(zero, constant_like(x, 0), length));
}

/// What the slopes of hypot and atan2 are made of: r = small / large of |a| and |b|, and which one
/// is the larger. At the origin r is 0.
struct Aspect {
  Tensor larger_is_second, large, ratio;
};
Aspect aspect(const Tensor& a, const Tensor& b) {
  const Tensor p = magnitude(a), q = magnitude(b), second = p < q;
  const Tensor large = where(second, q, p), none = large == 0;
  return {second, large,
          where(none, constant_like(a, 0), where(second, p, q)) /
              where(none, constant_like(a, 1), large)};
}

/// a / h and b / h of h = hypot(a, b): 1 / sqrt(1 + r^2), r / sqrt(1 + r^2) with their signs.
std::vector<Tensor> hypot_gradient(const std::vector<Tensor>& in) {
  const Tensor &a = in[0], &b = in[1], &adjoint = in[3];
  const Aspect of = aspect(a, b);
  const Tensor share = 1 / (of.ratio.square() + 1).sqrt(), rest = of.ratio * share;
  const auto slope = [&](const Tensor& x, const Tensor& value) {
    return adjoint * where(of.large == 0, constant_like(x, 0), copysign(value, x));
  };
  return {slope(a, where(of.larger_is_second, rest, share)),
          slope(b, where(of.larger_is_second, share, rest))};
}

/// x / (x^2 + y^2) and -y / (x^2 + y^2): of the larger 1 / (large (1 + r^2)), of the smaller r
/// times that. 0 at the origin, where there is no angle, and at infinity.
std::vector<Tensor> atan2_gradient(const std::vector<Tensor>& in) {
  const Tensor &y = in[0], &x = in[1], &adjoint = in[3];
  const Aspect of = aspect(y, x);
  const Tensor none = (of.large == 0) | (of.large == kInfinity), one = constant_like(x, 1);
  const Tensor ratio = where(none, constant_like(x, 0), of.ratio);
  const Tensor large = where(none, one, of.large), share = 1 / (ratio.square() + 1);
  const auto slope = [&](const Tensor& v, const Tensor& value) {
    const Tensor broken = where(isnan(x) | isnan(y), x + y, constant_like(x, 0));
    return times_slope(adjoint, where(none, broken, copysign(value * share / large, v)));
  };
  return {slope(x, where(of.larger_is_second, one, ratio)),
          slope(-y, where(of.larger_is_second, ratio, one))};
}

/// What their formulas would give at infinity and beside 0 is not their slope there.
Tensor of_two(const char* op, const Tensor& a, const Tensor& b,
              Tensor (*value)(const Tensor&, const Tensor&),
              std::vector<Tensor> (*gradient)(const std::vector<Tensor>&)) {
  return in_float(op, a, b, [&](const Tensor& x, const Tensor& y) {
    return composite(
        op, [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{value(in[0], in[1])}; },
        gradient)({x, y})[0];
  });
}

}  // namespace

Tensor tan(const Tensor& x) {
  return in_float(x, [](const Tensor& v) { return v.sin() / v.cos(); });
}

Tensor asin(const Tensor& x) {
  return in_float(x, [](const Tensor& v) {
    const ArcSine arc = arc_sine(v);
    const Tensor far = pi / 2 - (arc.value + arc.value);
    return where(arc.far, where(v < 0, -far, far), arc.value);
  });
}

Tensor acos(const Tensor& x) {
  return in_float(x, [](const Tensor& v) {
    const ArcSine arc = arc_sine(v);
    const Tensor far = arc.value + arc.value;
    return where(arc.far, where(v < 0, pi - far, far), pi / 2 - arc.value);
  });
}

Tensor atan(const Tensor& x) {
  return in_float(x, [](const Tensor& v) {
    const Tensor size = magnitude(v), steep = size > 1, one = constant_like(v, 1);
    const Tensor quotient = 1 / where(steep, size, one);
    const Tensor angle = atan_of_quotient(where(steep, quotient, size), one);
    return odd(v, where(steep, pi / 2 - angle, angle));
  });
}

Tensor atan2(const Tensor& y, const Tensor& x) {
  return of_two("atan2", y, x, atan2_of, atan2_gradient);
}

Tensor hypot(const Tensor& a, const Tensor& b) {
  return of_two("hypot", a, b, hypot_of, hypot_gradient);
}

}  // namespace tenon
