// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words in which formulas over tensors are written. Internal to the library.
//
// What they hide from gradients is chosen: `leading` counts as a constant, and where a function is
// cut in branches, the operand of the branch that is not taken is replaced by a harmless one before
// anything that could make it infinite.
#pragma once

#include <functional>
#include <initializer_list>
#include <limits>

#include "frontend/tensor/state.hpp"

namespace tenon {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline bool is_double(const Tensor& x) { return x.dtype() == DType::kF64; }

/// A function of floats: narrow ones are computed in f32 and rounded back, integers and bools
/// become f32.
template <class F>
Tensor in_float(const Tensor& x, const F& function) {
  if (!is_float(x.dtype())) return function(x.astype(DType::kF32));
  if (dtype_bits(x.dtype()) >= 32) return function(x);
  return function(x.astype(DType::kF32)).astype(x.dtype());
}

/// Both in their common dtype and shape, f32 if that is no float; then as above.
template <class F>
Tensor in_float(const char* op, const Tensor& a, const Tensor& b, const F& function) {
  const Operands operands = promote_and_broadcast(op, a, b);
  const Tensor x = make_tensor(*operands.context, operands.a);
  const Tensor y = make_tensor(*operands.context, operands.b);
  const DType dtype = x.dtype();
  if (!is_float(dtype)) return function(x.astype(DType::kF32), y.astype(DType::kF32));
  if (dtype_bits(dtype) >= 32) return function(x, y);
  return function(x.astype(DType::kF32), y.astype(DType::kF32)).astype(dtype);
}

/// Both as tensors of one context: a number that stands alone takes dtype and shape from the other.
struct TwoTensors {
  Tensor a, b;
};
inline TwoTensors beside_each_other(const char* op, const Tensor& a, const Tensor& b) {
  if (is_number(a) == is_number(b)) return {a, b};
  const Operands operands = promote_and_broadcast(op, a, b);
  return {make_tensor(*operands.context, operands.a), make_tensor(*operands.context, operands.b)};
}

/// f(x) as a composite, with a gradient of its own: of x, f(x) and the adjoint.
Tensor with_gradient(
    const char* name, const Tensor& x, const std::function<Tensor(const Tensor&)>& f,
    const std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)>& gradient);

/// The same by the slope, of x and f(x), which may be infinite: what does not count, an adjoint of
/// 0, gets 0.
Tensor with_slope(const char* name, const Tensor& x, const std::function<Tensor(const Tensor&)>& f,
                  const std::function<Tensor(const Tensor&, const Tensor&)>& slope);
Tensor times_slope(const Tensor& adjoint, const Tensor& slope);

/// By Horner's rule, the highest power first.
Tensor polynomial(const Tensor& x, std::initializer_list<double> coefficients);
/// |x| whose slope at 0 is 1 and not 0, as that of the branch for x >= 0 which goes on from it.
Tensor magnitude(const Tensor& x);
/// f(x) of an odd function from f(|x|), whose slope at 0 is 1.
Tensor odd(const Tensor& x, const Tensor& of_magnitude);
/// x without the lower half of its significant bits, so that products of two such are exact. What
/// is left over may have one bit more.
Tensor leading(const Tensor& x);
/// x y as a rounded product and what was rounded away: T. J. Dekker, 1971.
struct Product {
  Tensor rounded, rest;
};
Product exact_product(const Tensor& x, const Tensor& y);
/// e^x / 2 for x >= 0, which overflows where that does and not before.
Tensor half_exp(const Tensor& x);
/// e^(x^2) erfc(x) for x >= 0, which does not underflow.
Tensor scaled_erfc(const Tensor& x);
/// An integer as unsigned bits of the same width as the float x.
DType bits_dtype(const Tensor& x);

}  // namespace tenon
