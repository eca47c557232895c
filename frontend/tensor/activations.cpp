// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/tensor.hpp"

#include <numbers>

#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/formula.hpp"

namespace tenon {
namespace {

Tensor zero_like(const Tensor& x) { return constant_like(x, 0); }

/// e^x - 1 for x <= 0; 0 elsewhere.
Tensor expm1_below_zero(const Tensor& x) { return expm1(where(x > 0, zero_like(x), x)); }

/// x where e^x is 0 in every dtype, if it was below: products with that are 0, and not NaN.
Tensor above_underflow(const Tensor& x) { return x.maximum(constant_like(x, -1000)); }

Tensor softplus_of(const Tensor& x) {
  return where(x < 0, zero_like(x), x) + log1p((-magnitude(x)).exp());
}

}  // namespace

Tensor sigmoid(const Tensor& x) {
  const auto value = [](const Tensor& v) {
    const Tensor e = (-magnitude(v)).exp();  // at most 1
    return where(v < 0, e, constant_like(v, 1)) / (e + 1);
  };
  const auto gradient = [](const Tensor& /*x*/, const Tensor& y, const Tensor& g) {
    return g * (y * (1 - y));
  };
  return in_float(x, [&](const Tensor& v) { return with_gradient("sigmoid", v, value, gradient); });
}

Tensor gelu(const Tensor& x) {
  // x (1 + tanh(u)) / 2 = x sigmoid(2u) = x / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3):
  // Hendrycks and Gimpel, 2016
  constexpr double kCube = 0.044715;
  constexpr double kTwice = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  // Where x^3 overflows, e^-2u is 0 or infinity: x or 0.
  const auto value = [&](const Tensor& x) {
    const Tensor v = above_underflow(x);
    return v / ((v * (v * v * (-kTwice * kCube) - kTwice)).exp() + 1);
  };
  const auto gradient = [&](const Tensor& v, const Tensor& /*y*/, const Tensor& g) {
    // Beyond, the sigmoid is 0 or 1 in every dtype.
    const Tensor at = clip(v, -40, 40), s = ((at + at * at * at * kCube) * kTwice).sigmoid();
    return g * (s + at * s * (1 - s) * (at * at * (3 * kCube * kTwice) + kTwice));
  };
  return in_float(x, [&](const Tensor& v) { return with_gradient("gelu", v, value, gradient); });
}

Tensor softplus(const Tensor& x) { return in_float(x, softplus_of); }

Tensor log_sigmoid(const Tensor& x) {
  return in_float(x, [](const Tensor& v) { return -softplus_of(-v); });
}

Tensor silu(const Tensor& x) {
  const auto value = [](const Tensor& v) {
    const Tensor at = above_underflow(v);
    return at * at.sigmoid();
  };
  const auto gradient = [](const Tensor& v, const Tensor& /*y*/, const Tensor& g) {
    const Tensor at = clip(v, -1000, 1000), s = at.sigmoid();
    return g * (s + at * s * (1 - s));
  };
  return in_float(x, [&](const Tensor& v) { return with_gradient("silu", v, value, gradient); });
}

Tensor elu(const Tensor& x, double alpha) {
  return as_op("elu", [&] {
    return in_float(x,
                    [&](const Tensor& v) { return where(v > 0, v, expm1_below_zero(v) * alpha); });
  });
}

Tensor selu(const Tensor& x) {
  constexpr double kAlpha = 1.6732632423543772848, kScale = 1.0507009873554804934;
  return in_float(x, [](const Tensor& v) {
    return where(v > 0, v * kScale, expm1_below_zero(v) * (kScale * kAlpha));
  });
}

Tensor celu(const Tensor& x, double alpha) {
  TN_REQUIRE(alpha != 0, "[celu] expected an alpha that is not 0, got 0");
  return as_op("celu", [&] {
    return in_float(x, [&](const Tensor& v) {
      const Tensor below = where(v > 0, zero_like(v), v);
      return where(v > 0, v, expm1(below / alpha) * alpha);
    });
  });
}

Tensor mish(const Tensor& x) {
  // tanh(ln(1 + e)) = e (e + 2) / (e (e + 2) + 2), which is 1 from x = 20 on.
  return in_float(x, [](const Tensor& x) {
    const Tensor v = above_underflow(x);
    const Tensor e = where(v > 20, constant_like(v, 20), v).exp();
    const Tensor w = e * (e + 2);
    return v * (w / (w + 2));
  });
}

Tensor relu6(const Tensor& x) { return clip(x, 0, 6); }

Tensor hardsigmoid(const Tensor& x) {
  return in_float(x, [](const Tensor& v) { return clip(v + 3, 0, 6) / 6; });
}

Tensor hardswish(const Tensor& x) {
  return in_float(x, [](const Tensor& v) { return above_underflow(v) * hardsigmoid(v); });
}

Tensor leaky_relu(const Tensor& x, double slope) {
  return as_op("leaky_relu", [&] {
    return in_float(x, [&](const Tensor& v) { return where(v < 0, v * slope, v); });
  });
}

Tensor prelu(const Tensor& x, const Tensor& slope) {
  return in_float("prelu", x, slope, [](const Tensor& v, const Tensor& s) {
    return where(v < 0, where(v < 0, v, zero_like(v)) * s, v);  // 0 times an infinity is not taken
  });
}

Tensor gelu_exact(const Tensor& x) {
  const auto share = [](const Tensor& v) { return erfc(v * (-std::numbers::sqrt2 / 2)) * 0.5; };
  const auto value = [&](const Tensor& x) {
    const Tensor v = above_underflow(x);
    return v * share(v);
  };
  const auto gradient = [&](const Tensor& v, const Tensor& /*y*/, const Tensor& g) {
    const Tensor at = clip(v, -40, 40);  // beyond, the density is 0 in every dtype
    constexpr double kPeak = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    return g * (share(at) + at * (at.square() * -0.5).exp() * kPeak);
  };
  return in_float(x,
                  [&](const Tensor& v) { return with_gradient("gelu_exact", v, value, gradient); });
}

}  // namespace tenon
