// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Powers and roots.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/support/error.hpp"
#include "core/support/process.hpp"
#include "frontend/tensor/float_parts.hpp"
#include "tenon/gradient.hpp"

namespace tenon {
namespace {

/// A number as an unrounded sum, of which the first part has half of the bits.
struct Pair {
  Tensor high, low;
};

/// The constants of log2 in fdlibm's e_pow.c and e_powf.c. `c` is 2/(3 ln 2).
struct LogConstants {
  double series[6];
  double c, c_high, c_low;
  double half_high, half_low;  ///< log2(1.5)
};
constexpr LogConstants kSingle = {{2.0697501302e-01, 2.3066075146e-01, 2.7272811532e-01,
                                   3.3333334327e-01, 4.2857143283e-01, 6.0000002384e-01},
                                  9.6179670095e-01,
                                  9.6191406250e-01,
                                  -1.1736857402e-04,
                                  5.8496093750e-01,
                                  1.5632208477e-06};
constexpr LogConstants kDouble = {
    {2.06975017800338417784e-01, 2.30660745775561754067e-01, 2.72728123808534006489e-01,
     3.33333329818377432918e-01, 4.28571428578550184252e-01, 5.99999999999994648725e-01},
    9.61796693925975554329e-01,
    9.61796700954437255859e-01,
    -7.02846165095275826516e-09,
    5.84962487220764160156e-01,
    1.35003920212974897128e-08};

const LogConstants& constants(const Tensor& x) { return is_double(x) ? kDouble : kSingle; }

/// log2(x) of positive finite x, good to half as many bits again as x has: fdlibm, e_pow.c.
Pair log2_pair(const Tensor& x) {
  const LogConstants& k = constants(x);
  const FloatLayout layout = float_layout(x);
  const DType bits = bits_dtype(x);
  const double least = is_double(x) ? 0x1p-1022 : 0x1p-126, scale = is_double(x) ? 0x1p54 : 0x1p24;
  const Tensor subnormal = x < least, one = constant_like(x, 1), zero = constant_like(x, 0);
  const Tensor word = where(subnormal, x * scale, x).bit_cast(bits);
  const uint64_t fraction = (uint64_t{1} << layout.mantissa_bits) - 1;
  const uint64_t exponent_of_one = static_cast<uint64_t>(layout.bias) << layout.mantissa_bits;
  const Tensor mantissa = ((word & fraction) | exponent_of_one).bit_cast(x.dtype());  // [1, 2)
  // Beside 1, 1.5 or 2, whichever is near.
  const Tensor first = mantissa<std::sqrt(1.5), last = mantissa> std::sqrt(3.0);
  const Tensor m = where(last, mantissa * 0.5, mantissa);
  const Tensor second = where(first | last, zero, one);
  const Tensor base = second * 0.5 + 1;
  const Tensor exponent = (word >> layout.mantissa_bits).astype(x.dtype()) - layout.bias +
                          where(last, one, zero) -
                          where(subnormal, constant_like(x, std::log2(scale)), zero);

  // ln(m) of s = (m - base) / (m + base): 2 s + 2/3 s^3 (1 + ..), in two parts
  const Tensor u = m - base, v = 1 / (m + base), s = u * v, s_high = leading(s);
  const Tensor sum = leading(m + base), sum_low = m - (sum - base);
  const Tensor s_low = v * ((u - s_high * sum) - s_high * sum_low);
  const Tensor square = s * s;
  const Tensor series = polynomial(
      square, {k.series[0], k.series[1], k.series[2], k.series[3], k.series[4], k.series[5]});
  const Tensor rest = square * square * series + s_low * (s_high + s);
  const Tensor exact_square = s_high * s_high;
  const Tensor t = leading(exact_square + 3 + rest);
  const Tensor t_low = rest - ((t - 3) - exact_square);
  const Tensor p = s_high * t, q = s_low * t + t_low * s;
  const Tensor log_high = leading(p + q), log_low = q - (log_high - p);
  const Tensor high = log_high * k.c_high;
  const Tensor low = log_high * k.c_low + log_low * k.c + second * k.half_low;
  const Tensor step = second * k.half_high;
  const Tensor total = leading(((high + low) + step) + exponent);
  return {total, low - (((total - exponent) - step) - high)};
}

/// x^y of positive finite x and finite y of at most 2^40 (f64: 2^75).
Tensor positive_power(const Tensor& x, const Tensor& y) {
  const Pair log = log2_pair(x);
  const Tensor y_high = leading(y);
  const Tensor high = y_high * log.high, low = (y - y_high) * log.high + y * log.low;
  const double most = is_double(x) ? 1100 : 160;
  const Tensor exponent = high + low;
  const Tensor over = exponent > most, under = exponent < -most;
  const Tensor zero = constant_like(x, 0);
  const Tensor n = where(over | under, zero, (exponent + 0.5).floor());
  const Tensor part = where(over | under, zero, (high - n) + low).exp2();
  // In two halves: 2^n alone may be out of range.
  const Tensor half = (n * 0.5).floor();
  const Tensor value = part * power_of_two(half) * power_of_two(n - half);
  const Tensor infinity = constant_like(x, std::numeric_limits<double>::infinity());
  return where(over, infinity, where(under, zero, value));
}

Tensor float_power(const Tensor& x, const Tensor& y) {
  const Tensor one = constant_like(x, 1), zero = constant_like(x, 0);
  const Tensor infinity = constant_like(x, std::numeric_limits<double>::infinity());
  const Tensor size = magnitude(x);
  const Tensor edge = (size == 0) | (size == infinity) | isnan(x) | isnan(y);
  const double most = is_double(x) ? 0x1p75 : 0x1p40;  // there every power but 1's is 0 or Inf
  const Tensor exponent = where(edge, one, clip(y, -most, most));
  const Tensor power = positive_power(where(edge, one, size), exponent);
  // 0 and Inf, each as far from 1 as y says.
  const Tensor grows = (size == infinity) == (y > 0);
  const Tensor at_edge = where(isnan(x) | isnan(y), x + y, where(grows, infinity, zero));
  const Tensor value = where(edge, at_edge, power);
  const Tensor whole = y.floor() == y, half = y * 0.5;
  const Tensor is_odd = whole & (half.floor() != half);
  const Tensor negative = x < 0;
  const Tensor signed_value = where(signbit(x) & is_odd, -value, value);
  const Tensor broken = negative & (size < infinity) & ~whole;
  return where((y == 0) | (x == 1), one,
               where(broken, constant_like(x, std::nan("")), signed_value));
}

/// y p and ln(x) z of z = x^y and p = x^(y-1). Where p is beyond the dtype y z / x need not be.
/// Where z is 0 it stays so for y near.
std::vector<Tensor> power_gradient(const std::vector<Tensor>& in, const Tensor& p) {
  const Tensor &x = in[0], &y = in[1], &z = in[2], &adjoint = in[3];
  const Tensor zero = constant_like(x, 0);
  const Tensor beyond = isinf(p) & isfinite(x) & (x != 0);
  const Tensor by_x = where(beyond, y / where(beyond, x, constant_like(x, 1)) * z, y * p);
  return {times_slope(adjoint, where(y == 0, zero, by_x)),
          times_slope(adjoint, where(z == 0, zero, x.log() * z))};
}

std::vector<Tensor> power_of(const std::vector<Tensor>& in) { return {float_power(in[0], in[1])}; }

/// x^(y-1) in a gradient: its own one takes the next power from it by a division.
Tensor next_power(const Tensor& x, const Tensor& y) {
  const ForkHold hold;  // before the lock of what is made once
  static const auto& power =
      *new TensorFunction(composite("pow", power_of, [](const std::vector<Tensor>& in) {
        const Tensor &x = in[0], &y = in[1], &z = in[2];
        const Tensor one = constant_like(x, 1), zero = constant_like(x, 0);
        const Tensor at_zero = where(y == 1, one, where(y > 1, zero, constant_like(x, kInfinity)));
        return power_gradient(in, where(x == 0, at_zero, z / where(x == 0, one, x)));
      }));
  return power({x, y})[0];
}

/// The bits that float_power works on have no derivative.
Tensor differentiable_power(const Tensor& x, const Tensor& y) {
  const ForkHold hold;  // before the lock of what is made once
  static const auto& power =
      *new TensorFunction(composite("pow", power_of, [](const std::vector<Tensor>& in) {
        return power_gradient(in, next_power(in[0], in[1] - 1));
      }));
  return power({x, y})[0];
}

Tensor integer_power(const Tensor& x, const Tensor& y) {
  const DType dtype = x.dtype();
  TN_REQUIRE(dtype != DType::kBool, "[pow] expected numbers, got bool");
  const Tensor one = constant_like(x, 1), zero = constant_like(x, 0);
  const auto bits = static_cast<int>(dtype_bits(dtype)) - (is_signed(dtype) ? 1 : 0);
  Tensor result = one, base = x;
  for (int bit = 0; bit < bits; ++bit, base = base * base) {
    const Tensor set = (y & (uint64_t{1} << bit)) != 0;
    result = result * where(set, base, one);
  }
  if (!is_signed(dtype)) return result;
  const Tensor inverse = where(magnitude(x) == 1, where((y & 1) == 0, one, x), zero);
  return where(y < 0, inverse, result);
}

/// Of a float.
Tensor power_of_number(const Tensor& x, double exponent) {
  const double size = std::abs(exponent);
  if (size == 0)  // 1 of every x, of NaN too, and a path for gradients
    return with_gradient(
        "pow", x, [](const Tensor& v) { return constant_like(v, 1); },
        [](const Tensor& /*v*/, const Tensor& /*y*/, const Tensor& g) {
          return constant_like(g, 0);
        });
  // A few factors stay exact for exact values.
  if (size == std::floor(size) && size <= 8) {
    Tensor base = exponent < 0 ? x.reciprocal() : x;
    Tensor result = constant_like(base, 1);
    for (auto bits = static_cast<unsigned>(size); bits != 0; bits >>= 1, base = base.square())
      if (bits & 1) result = result * base;
    return result;
  }
  if (exponent == 0.5) return x.sqrt();
  return in_float(x, [&](const Tensor& v) {
    // A finite exponent stays finite; from there on all are even, and large.
    const bool holds = is_double(v) || std::isinf(exponent);
    return differentiable_power(
        v, constant_like(v, holds ? exponent : std::clamp(exponent, -0x1p127, 0x1p127)));
  });
}

}  // namespace

Tensor pow(const Tensor& x, const Tensor& y) {
  const std::optional<Number>& number = y.state()->number;
  if (number && (is_float(x.dtype()) || number->is_float()))
    return power_of_number(is_float(x.dtype()) ? x : x.astype(DType::kF32),
                           number->as("pow", DType::kF64).as_double());
  const Operands operands = promote_and_broadcast("pow", x, y);
  if (!is_float(operands.a->dtype))
    return integer_power(make_tensor(*operands.context, operands.a),
                         make_tensor(*operands.context, operands.b));
  return in_float("pow", x, y, differentiable_power);
}

Tensor cbrt(const Tensor& x) {
  const auto value = [](const Tensor& v) {
    const Tensor size = magnitude(v);
    const Tensor edge = (v == 0) | (size == std::numeric_limits<double>::infinity());
    const Tensor a = where(edge, constant_like(v, 1), size);
    const Tensor guess = (a.log2() * (1.0 / 3)).exp2();
    const Tensor root = guess - (guess - a / (guess * guess)) * (1.0 / 3);  // Newton
    return where(edge, v, where(v < 0, -root, root));
  };
  const auto slope = [](const Tensor& /*v*/, const Tensor& y) { return 1 / (y.square() * 3); };
  return in_float(x, [&](const Tensor& v) { return with_slope("cbrt", v, value, slope); });
}

}  // namespace tenon
