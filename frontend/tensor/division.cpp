// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quotients and remainders by NumPy's names; the operators / and % are C++'s.

#include "core/support/error.hpp"
#include "frontend/tensor/formula.hpp"

namespace tenon {
namespace {

/// By long division: each step takes a quotient of as many bits as the dtype has, and leaves a
/// remainder without rounding.
Tensor float_fmod(const Tensor& x, const Tensor& y) {
  constexpr int kSteps = 3;
  const Tensor divisor = magnitude(y);
  Tensor rest = magnitude(x);
  for (int step = 0; step < kSteps; ++step) {
    const Product product = exact_product((rest / divisor).trunc(), divisor);
    rest = (rest - product.rounded) - product.rest;
  }
  // The last quotient may have been rounded to the next number.
  rest = where(rest < 0, rest + divisor, rest);
  rest = where(rest < divisor, rest, rest - divisor);
  const Tensor whole = (divisor == kInfinity) & isfinite(x);
  return where(whole, x, where(x < 0, -rest, rest));
}

/// The remainder that has the divisor's sign, from the one that has the dividend's.
Tensor turned(const Tensor& rest, const Tensor& divisor) {
  return where((rest != 0) & ((rest < 0) != (divisor < 0)), rest + divisor, rest);
}

Tensor float_floor_divide(const Tensor& x, const Tensor& y) {
  // As NumPy: the quotient of what remainder leaves is whole but for rounding.
  const Tensor rest = float_fmod(x, y), flipped = (rest != 0) & ((rest < 0) != (y < 0));
  const Tensor quotient = (x - rest) / y, below = quotient - 1;
  const Tensor near = where(flipped, below, quotient), floor = near.floor();
  const Tensor whole = where(near - floor > 0.5, floor + 1, floor);
  return where(y == 0, x / y, whole);
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
  return in_float("remainder", a, b,
                  [](const Tensor& x, const Tensor& y) { return turned(float_fmod(x, y), y); });
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
