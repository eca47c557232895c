// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signs, whole numbers, and functions of one or two lines.
#include "tenon/tensor.hpp"

#include <numbers>

#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/formula.hpp"

namespace tenon {

Tensor sign(const Tensor& x) {
  TN_REQUIRE(x.dtype() != DType::kBool, "[sign] expected numbers, got bool");
  const Tensor one = constant_like(x, 1);
  if (!is_signed(x.dtype())) return where(x == 0, x, one);
  return where(x > 0, one, where(x < 0, -one, where(x == 0, constant_like(x, 0), x)));  // no -0
}

Tensor ceil(const Tensor& x) { return is_float(x.dtype()) ? -(-x).floor() : x; }

Tensor round(const Tensor& x) {
  if (!is_float(x.dtype())) return x;
  return in_float(x, [](const Tensor& v) {
    const Tensor size = magnitude(v), whole = size.floor();
    const Tensor rest = size - whole, half = whole * 0.5;  // both exact
    const Tensor up = (rest > 0.5) | ((rest == 0.5) & (half != half.floor()));
    return copysign(where(up, whole + 1, whole), v);
  });
}

Tensor frac(const Tensor& x) {
  return as_op("frac", [&] { return x - x.trunc(); });
}

Tensor clip(const Tensor& x, const Tensor& low, const Tensor& high) {
  return as_op("clip", [&] { return x.maximum(low).minimum(high); });
}

Tensor copysign(const Tensor& magnitude, const Tensor& sign) {
  return in_float("copysign", magnitude, sign, [](const Tensor& a, const Tensor& b) {
    return where(signbit(a) == signbit(b), a, -a);
  });
}

Tensor heaviside(const Tensor& x, const Tensor& at_zero) {
  return in_float("heaviside", x, at_zero, [](const Tensor& v, const Tensor& h) {
    return where(v == 0, h,
                 where(v > 0, constant_like(v, 1), where(v < 0, constant_like(v, 0), v)));
  });
}

Tensor degrees(const Tensor& radians) {
  return in_float(radians, [](const Tensor& x) { return x * (180 / std::numbers::pi); });
}

Tensor radians(const Tensor& degrees) {
  return in_float(degrees, [](const Tensor& x) { return x * (std::numbers::pi / 180); });
}

Tensor lerp(const Tensor& a, const Tensor& b, const Tensor& weight) {
  return as_op("lerp", [&] {
    const Tensor way = b - a;
    const auto [part, wide] = beside_each_other("lerp", weight, way);
    const Tensor step = part * wide;
    // A float number beside integers makes f32 of all three.
    const auto end = [&](const Tensor& x) { return is_number(x) ? x : rounded(x, step.dtype()); };
    // From the nearer end, so that weight 1 gives b.
    return where(part < 0.5, end(a) + step, end(b) - wide * (1 - part));
  });
}

Tensor fmax(const Tensor& a, const Tensor& b) {
  return as_op("fmax", [&] {
    const auto [x, y] = beside_each_other("fmax", a, b);
    return where(isnan(x), y, where(isnan(y), x, x.maximum(y)));
  });
}

Tensor fmin(const Tensor& a, const Tensor& b) {
  return as_op("fmin", [&] {
    const auto [x, y] = beside_each_other("fmin", a, b);
    return where(isnan(x), y, where(isnan(y), x, x.minimum(y)));
  });
}

}  // namespace tenon
