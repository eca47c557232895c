// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/tensor.hpp"

#include <limits>

#include "core/ir/dtype.hpp"
#include "core/ir/narrow_float.hpp"
#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/formula.hpp"

namespace tenon {
namespace {

Tensor everywhere(const Tensor& x, bool value) {
  return make_tensor(x.context(), builder_of(x).constant(Scalar{DType::kBool, value}, dims_of(x)));
}

Tensor truth(const Tensor& x) { return x.dtype() == DType::kBool ? x : x.astype(DType::kBool); }

/// Of a tensor and itself: where it is NaN, and where not.
Tensor differs(const Tensor& x, const Tensor& y) { return x != y; }
Tensor equals(const Tensor& x, const Tensor& y) { return x == y; }

double largest(DType dtype) {
  if (dtype == DType::kF64) return std::numeric_limits<double>::max();
  if (dtype == DType::kF32) return std::numeric_limits<float>::max();
  return narrow_to_double(float_format(dtype).max_finite, dtype);
}

Tensor shift(const char* name, Op op, const Tensor& x, const Tensor& bits) {
  TN_REQUIRE(is_int(x.dtype()) && is_int(bits.dtype()), "[{}] expected integers, got {} and {}",
             name, dtype_name(x.dtype()), dtype_name(bits.dtype()));
  const Operands operands = promote_and_broadcast(name, x, bits);
  return make_tensor(*operands.context,
                     builder_of(*operands.context).binary(op, operands.a, operands.b));
}

}  // namespace

Tensor isnan(const Tensor& x) { return is_float(x.dtype()) ? differs(x, x) : everywhere(x, false); }

Tensor isinf(const Tensor& x) {
  if (!is_float(x.dtype()) || !has_infinity(x.dtype())) return everywhere(x, false);
  return x.abs() == kInfinity;
}

Tensor isfinite(const Tensor& x) {
  if (!is_float(x.dtype())) return everywhere(x, true);
  return has_infinity(x.dtype()) ? x.abs() < kInfinity : equals(x, x);
}

Tensor signbit(const Tensor& x) {
  if (x.dtype() == DType::kBool || (!is_float(x.dtype()) && !is_signed(x.dtype())))
    return everywhere(x, false);
  if (!is_float(x.dtype())) return x < 0;
  constexpr DType kBits[] = {DType::kVoid, DType::kI8,   DType::kI16,  DType::kVoid, DType::kI32,
                             DType::kVoid, DType::kVoid, DType::kVoid, DType::kI64};
  return x.bit_cast(kBits[dtype_size(x.dtype())]) < 0;
}

Tensor isclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  TN_REQUIRE(rtol >= 0 && atol >= 0, "[isclose] expected tolerances of at least 0, got {} and {}",
             rtol, atol);
  const auto near_or_equal = [&](const Tensor& x, const Tensor& y) {
    // An infinite tolerance would take everything: infinities are compared.
    const Tensor near = ((x - y).abs() <= y.abs() * rtol + atol) & isfinite(y);
    const Tensor result = near | (x == y);
    return equal_nan ? result | (differs(x, x) & differs(y, y)) : result;
  };
  const auto close = [&](const Tensor& x, const Tensor& y) {
    return as_op("isclose", [&] { return near_or_equal(x, y); });
  };
  const Operands operands = promote_and_broadcast("isclose", a, b);
  const Tensor x = make_tensor(*operands.context, operands.a);
  const Tensor y = make_tensor(*operands.context, operands.b);
  const bool wide = is_float(x.dtype()) && dtype_bits(x.dtype()) >= 32;
  return wide ? close(x, y) : close(x.astype(DType::kF32), y.astype(DType::kF32));
}

Tensor nan_to_num(const Tensor& x, Number nan, std::optional<Number> posinf,
                  std::optional<Number> neginf) {
  if (!is_float(x.dtype())) return x;
  const auto number = [&](const Number& value) {
    return make_tensor(x.context(),
                       builder_of(x).constant(value.as("nan_to_num", x.dtype()), dims_of(x)));
  };
  Tensor result = where(equals(x, x), x, number(nan));
  if (!has_infinity(x.dtype())) return result;
  const double most = largest(x.dtype());
  result = where(x == kInfinity, number(posinf.value_or(most)), result);
  return where(x == -kInfinity, number(neginf.value_or(-most)), result);
}

Tensor logical_not(const Tensor& x) { return ~truth(x); }
Tensor logical_and(const Tensor& a, const Tensor& b) {
  return as_op("logical_and", [&] {
    const auto [x, y] = beside_each_other("logical_and", a, b);
    return truth(x) & truth(y);
  });
}
Tensor logical_or(const Tensor& a, const Tensor& b) {
  return as_op("logical_or", [&] {
    const auto [x, y] = beside_each_other("logical_or", a, b);
    return truth(x) | truth(y);
  });
}
Tensor logical_xor(const Tensor& a, const Tensor& b) {
  return as_op("logical_xor", [&] {
    const auto [x, y] = beside_each_other("logical_xor", a, b);
    return truth(x) ^ truth(y);
  });
}

Tensor operator~(const Tensor& x) {
  if (x.dtype() == DType::kBool) return x ^ true;
  TN_REQUIRE(is_int(x.dtype()), "[bitwise_not] expected integers or bool, got {}",
             dtype_name(x.dtype()));
  const Scalar ones = cast(Scalar::of_int(DType::kI64, -1), x.dtype());
  return x ^ make_tensor(x.context(), builder_of(x).constant(ones, dims_of(x)));
}

Tensor operator<<(const Tensor& x, const Tensor& bits) {
  return shift("left_shift", Op::SHL, x, bits);
}
Tensor operator>>(const Tensor& x, const Tensor& bits) {
  return shift("right_shift", Op::SHR, x, bits);
}

}  // namespace tenon
