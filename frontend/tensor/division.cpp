// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quotients and remainders by NumPy's names; the operators / and % are C++'s.

#include <cmath>

#include "core/support/error.hpp"
#include "core/support/process.hpp"
#include "frontend/tensor/float_parts.hpp"
#include "tenon/gradient.hpp"

namespace tenon {
namespace {

/// A whole number of as many bits as the dtype has, and its inverse.
struct Modulus {
  explicit Modulus(const Tensor& number) : m(number), inverse(1 / number) {}
  Tensor m, inverse;
};

/// x less a multiple of m, which is exact for small multiples: in [-m/2, m/2] but for a rounding.
Tensor centred(const Tensor& x, const Modulus& by) {
  return x - by.m * (x * by.inverse + 0.5).floor();
}

/// The same of a product of two such numbers. Its quotient may be off by a few, and what is left of
/// the rounded product is exact, as it is near the multiple.
Tensor residue(const Tensor& a, const Tensor& b, const Modulus& by) {
  const Product x = exact_product(a, b);
  const Product taken = exact_product((x.rounded * by.inverse + 0.5).floor(), by.m);
  return centred(centred(x.rounded - taken.rounded, by) + (x.rest - taken.rest), by);
}

/// With x = a 2^(e + d) and y = m 2^e in whole numbers: (a 2^d modulo m) 2^e, without rounding.
/// 2^d is that of d's upper bits, squared for each lower one.
Tensor fmod_of(const Tensor& x, const Tensor& y) {
  const Tensor one = constant_like(x, 1);
  const Tensor size = magnitude(x), divisor = magnitude(y);
  const Tensor divides = isfinite(x) & isfinite(y) & (y != 0),
               reaches = divides & (size >= divisor);
  const WholeParts a = whole_parts(where(reaches, size, one));
  const WholeParts b = whole_parts(where(reaches, divisor, one));
  const Modulus by(b.whole);
  const int bits = is_double(x) ? 6 : 4;  // 2^(d / 2^bits) is below m / 2
  const Tensor distance = a.exponent - b.exponent;
  const Tensor upper = (distance * std::ldexp(1.0, -bits)).floor();
  Tensor lower = distance - upper * std::ldexp(1.0, bits);
  Tensor power = power_of_two(upper);
  for (int bit = bits; bit-- > 0;) {
    power = residue(power, power, by);
    const Tensor set = lower >= std::ldexp(1.0, bit);
    power = where(set, centred(power + power, by), power);
    lower = where(set, lower - std::ldexp(1.0, bit), lower);
  }
  Tensor rest = residue(centred(a.whole, by), power, by);
  rest = where(rest < 0, rest + by.m, rest);
  const Tensor half = (b.exponent * 0.5).floor();  // 2^e may be subnormal
  rest = rest * power_of_two(half) * power_of_two(b.exponent - half);
  const Tensor whole = divides | (isfinite(x) & (divisor == kInfinity));
  return where(reaches, where(signbit(x), -rest, rest),
               where(whole, x, constant_like(x, std::nan(""))));
}

/// The remainder that has the divisor's sign, from the one that has the dividend's.
Tensor turned(const Tensor& rest, const Tensor& divisor) {
  const Tensor whole = is_float(rest.dtype()) ? copysign(rest, divisor) : rest;
  return where(rest == 0, whole, where((rest < 0) != (divisor < 0), rest + divisor, rest));
}

/// The bits that fmod works on have no derivative: 1, and by y -trunc(x / y) or -floor(x / y), a
/// whole number but for rounding.
std::vector<Tensor> quotient_gradient(const std::vector<Tensor>& in) {
  const Tensor quotient = (in[0] - in[2]) / in[1], near = (quotient + 0.5).floor();
  return {in[3], times_slope(in[3], where(isinf(in[1]), constant_like(in[1], 0), -near))};
}

Tensor float_fmod(const Tensor& x, const Tensor& y) {
  const ForkHold hold;  // before the lock of what is made once
  static const auto& fmod = *new TensorFunction(composite(
      "fmod",
      [](const std::vector<Tensor>& in) { return std::vector<Tensor>{fmod_of(in[0], in[1])}; },
      quotient_gradient));
  return fmod({x, y})[0];
}

Tensor float_remainder(const Tensor& x, const Tensor& y) {
  const ForkHold hold;  // before the lock of what is made once
  static const auto& remainder = *new TensorFunction(composite(
      "remainder",
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{turned(fmod_of(in[0], in[1]), in[1])};
      },
      [](const std::vector<Tensor>& in) {
        // An infinite divisor stands once in what it makes of the other sign.
        std::vector<Tensor> slopes = quotient_gradient(in);
        slopes[1] = where(isinf(in[2]), in[3], slopes[1]);
        return slopes;
      }));
  return remainder({x, y})[0];
}

Tensor float_floor_divide(const Tensor& x, const Tensor& y) {
  // As NumPy: the quotient of what remainder leaves is whole but for rounding.
  const Tensor rest = fmod_of(x, y), flipped = (rest != 0) & ((rest < 0) != (y < 0));
  const Tensor quotient = (x - rest) / y, below = quotient - 1;
  const Tensor near = where(flipped, below, quotient), floor = near.floor();
  const Tensor whole = where(near - floor > 0.5, floor + 1, floor);
  // 0 has the sign of the quotient.
  return where(y == 0, x / y, where(whole == 0, copysign(whole, x / y), whole));
}

struct Integers {
  Tensor a, b;
};

/// Both in their common integer dtype, or nothing if that is a float.
std::optional<Integers> integers(const char* op, const Tensor& a, const Tensor& b) {
  const Operands operands = promote_and_broadcast(op, a, b);
  if (is_float(operands.a->dtype)) return std::nullopt;
  TN_REQUIRE(operands.a->dtype != DType::kBool, "[{}] expected numbers, got bool", op);
  return Integers{make_tensor(*operands.context, operands.a),
                  make_tensor(*operands.context, operands.b)};
}

/// 0 where the divisor is.
Tensor integer_fmod(const Integers& x) { return where(x.b == 0, constant_like(x.a, 0), x.a % x.b); }

}  // namespace

Tensor divide(const Tensor& a, const Tensor& b) {
  return in_float("divide", a, b, [](const Tensor& x, const Tensor& y) { return x / y; });
}

Tensor fmod(const Tensor& a, const Tensor& b) {
  if (const auto x = integers("fmod", a, b)) return integer_fmod(*x);
  return in_float("fmod", a, b, float_fmod);
}

Tensor remainder(const Tensor& a, const Tensor& b) {
  if (const auto x = integers("remainder", a, b)) return turned(integer_fmod(*x), x->b);
  return in_float("remainder", a, b, float_remainder);
}

Tensor floor_divide(const Tensor& a, const Tensor& b) {
  if (const auto x = integers("floor_divide", a, b)) {
    const Tensor rest = integer_fmod(*x);
    const Tensor below = (rest != 0) & ((rest < 0) != (x->b < 0));
    return x->a / x->b - below.astype(rest.dtype());
  }
  return in_float("floor_divide", a, b, float_floor_divide);
}

}  // namespace tenon
