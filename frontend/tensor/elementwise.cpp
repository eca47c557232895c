// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operations: one op each, or a composition written here once.
#include <cmath>

#include "core/support/error.hpp"
#include "frontend/tensor/formula.hpp"

namespace tenon {
namespace {

Tensor unary(Op op, const Tensor& x) {
  return make_tensor(x.context(), builder_of(x).unary(op, node_of(x)));
}

/// Integers and bools become f32.
Tensor float_unary(Op op, const Tensor& x) {
  return unary(op, is_float(x.dtype()) ? x : x.astype(DType::kF32));
}

Tensor binary(Op op, const Tensor& a, const Tensor& b) {
  const Operands operands = promote_and_broadcast(std::string(op_info(op).text).c_str(), a, b);
  return make_tensor(*operands.context,
                     builder_of(*operands.context).binary(op, operands.a, operands.b));
}

}  // namespace

Tensor astype(const Tensor& x, DType dtype) {
  return make_tensor(x.context(), builder_of(x).cast(node_of(x), dtype));
}
Tensor bit_cast(const Tensor& x, DType dtype) {
  return make_tensor(x.context(), builder_of(x).bit_cast(node_of(x), dtype));
}

Tensor negative(const Tensor& x) { return unary(Op::NEG, x); }
Tensor reciprocal(const Tensor& x) { return float_unary(Op::RECIP, x); }
Tensor sqrt(const Tensor& x) { return float_unary(Op::SQRT, x); }
Tensor rsqrt(const Tensor& x) { return x.sqrt().reciprocal(); }
Tensor exp(const Tensor& x) { return float_unary(Op::EXP, x); }
Tensor exp2(const Tensor& x) { return float_unary(Op::EXP2, x); }
Tensor log(const Tensor& x) { return float_unary(Op::LN, x); }
Tensor log2(const Tensor& x) { return float_unary(Op::LOG2, x); }
Tensor sin(const Tensor& x) { return float_unary(Op::SIN, x); }
Tensor cos(const Tensor& x) { return float_unary(Op::COS, x); }
Tensor floor(const Tensor& x) { return is_float(x.dtype()) ? unary(Op::FLOOR, x) : x; }
Tensor trunc(const Tensor& x) { return is_float(x.dtype()) ? unary(Op::TRUNC, x) : x; }
Tensor square(const Tensor& x) { return x * x; }
Tensor abs(const Tensor& x) {
  return is_float(x.dtype()) || is_signed(x.dtype()) ? x.maximum(-x) : x;
}
Tensor relu(const Tensor& x) {
  const auto value = [](const Tensor& v) { return v.maximum(constant_like(v, 0)); };
  if (!is_float(x.dtype())) return value(x);
  // At 0, where max has half of it, the slope is 0.
  return with_gradient("relu", x, value, [](const Tensor& v, const Tensor& /*y*/, const Tensor& g) {
    return where(v > 0, g, constant_like(g, 0));
  });
}
Tensor maximum(const Tensor& a, const Tensor& b) { return binary(Op::MAX, a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return binary(Op::MIN, a, b); }

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
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
Tensor operator-(const Tensor& a) { return negative(a); }
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
