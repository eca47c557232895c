// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operations: one op each, or a composition written here once.
#include <cmath>
#include <numbers>

#include "core/support/error.hpp"
#include "frontend/tensor/formula.hpp"

namespace tenon {
namespace {

Tensor unary(Op op, const Tensor& x) {
  return make_tensor(x.context(), builder_of(x).unary(op, node_of(x)));
}

/// Integers and bools become f32.
Tensor float_unary(Op op, const Tensor& x) {
  return unary(op, is_float(x.dtype()) ? x : x.cast(DType::kF32));
}

Tensor binary(Op op, const Tensor& a, const Tensor& b) {
  const Operands operands = promote_and_broadcast(std::string(op_info(op).text).c_str(), a, b);
  return make_tensor(*operands.context,
                     builder_of(*operands.context).binary(op, operands.a, operands.b));
}

}  // namespace

Tensor Tensor::cast(DType dtype) const {
  return make_tensor(context(), builder_of(*this).cast(node_of(*this), dtype));
}
Tensor Tensor::bit_cast(DType dtype) const {
  return make_tensor(context(), builder_of(*this).bit_cast(node_of(*this), dtype));
}

Tensor Tensor::neg() const { return unary(Op::NEG, *this); }
Tensor Tensor::recip() const { return float_unary(Op::RECIP, *this); }
Tensor Tensor::sqrt() const { return float_unary(Op::SQRT, *this); }
Tensor Tensor::rsqrt() const { return sqrt().recip(); }
Tensor Tensor::exp() const { return float_unary(Op::EXP, *this); }
Tensor Tensor::exp2() const { return float_unary(Op::EXP2, *this); }
Tensor Tensor::log() const { return float_unary(Op::LN, *this); }
Tensor Tensor::log2() const { return float_unary(Op::LOG2, *this); }
Tensor Tensor::sin() const { return float_unary(Op::SIN, *this); }
Tensor Tensor::cos() const { return float_unary(Op::COS, *this); }
Tensor Tensor::floor() const { return is_float(dtype()) ? unary(Op::FLOOR, *this) : *this; }
Tensor Tensor::trunc() const { return is_float(dtype()) ? unary(Op::TRUNC, *this) : *this; }
Tensor Tensor::square() const { return *this * *this; }
Tensor Tensor::abs() const {
  return is_float(dtype()) || is_signed(dtype()) ? maximum(neg()) : *this;
}
Tensor Tensor::relu() const {
  const auto value = [](const Tensor& x) { return x.maximum(constant_like(x, 0)); };
  if (!is_float(dtype())) return value(*this);
  // At 0, where max has half of it, the slope is 0.
  return with_gradient("relu", *this, value,
                       [](const Tensor& x, const Tensor& /*y*/, const Tensor& g) {
                         return where(x > 0, g, constant_like(g, 0));
                       });
}
Tensor Tensor::maximum(const Tensor& other) const { return binary(Op::MAX, *this, other); }
Tensor Tensor::minimum(const Tensor& other) const { return binary(Op::MIN, *this, other); }
Tensor Tensor::idiv(const Tensor& other) const { return binary(Op::IDIV, *this, other); }

Tensor Tensor::where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  Operands sides = promote_and_broadcast("where", a, b);
  const Shape shape = broadcast_shapes("where", dims_of(condition), sides.a->shape);
  Context& context = condition.context();
  TN_REQUIRE(sides.context == &context || (a.state()->number && b.state()->number),
             "[where] expected tensors of one context, got two");
  Builder& builder = builder_of(context);
  return make_tensor(context, builder.where(broadcast_to(builder, node_of(condition), shape),
                                            broadcast_to(builder, sides.a, shape),
                                            broadcast_to(builder, sides.b, shape)));
}

Tensor operator+(const Tensor& a, const Tensor& b) { return binary(Op::ADD, a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return binary(Op::SUB, a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return binary(Op::MUL, a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) {
  const Operands operands = promote_and_broadcast("div", a, b);
  const Op op = is_float(operands.a->dtype) ? Op::FDIV : Op::IDIV;
  return make_tensor(*operands.context,
                     builder_of(*operands.context).binary(op, operands.a, operands.b));
}
Tensor operator%(const Tensor& a, const Tensor& b) { return binary(Op::MOD, a, b); }
Tensor operator-(const Tensor& a) { return a.neg(); }
Tensor operator<(const Tensor& a, const Tensor& b) { return binary(Op::CMPLT, a, b); }
Tensor operator>(const Tensor& a, const Tensor& b) { return b < a; }
Tensor operator==(const Tensor& a, const Tensor& b) { return binary(Op::CMPEQ, a, b); }
Tensor operator!=(const Tensor& a, const Tensor& b) { return binary(Op::CMPNE, a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return (a < b) | (a == b); }  // false for NaN
Tensor operator>=(const Tensor& a, const Tensor& b) { return b <= a; }
Tensor operator&(const Tensor& a, const Tensor& b) { return binary(Op::AND, a, b); }
Tensor operator|(const Tensor& a, const Tensor& b) { return binary(Op::OR, a, b); }
Tensor operator^(const Tensor& a, const Tensor& b) { return binary(Op::XOR, a, b); }

}  // namespace tenon
