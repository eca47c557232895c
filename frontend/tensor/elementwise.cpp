// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operations: one op each, or a composition written here once.
#include <cmath>

#include "core/support/as_op.hpp"
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

/// `name`: NumPy's, of an operator.
Tensor binary(const char* name, Op op, const Tensor& a, const Tensor& b) {
  return as_op(name, [&] {
    const Operands operands = promote_and_broadcast(name, a, b);
    return make_tensor(*operands.context,
                       builder_of(*operands.context).binary(op, operands.a, operands.b));
  });
}

/// What an operator assigns to `a`.
Tensor& assign(const char* name, Tensor& a, Tensor result) {
  TN_REQUIRE(
      is_number(a) || (same_shape(dims_of(a), dims_of(result)) && a.dtype() == result.dtype()),
      "[{}] expected a result of {}{}, as it is assigned to, got {}{}", name, dtype_name(a.dtype()),
      to_string(dims_of(a)), dtype_name(result.dtype()), to_string(dims_of(result)));
  return a = std::move(result);
}

}  // namespace

Tensor astype(const Tensor& x, DType dtype) {
  return as_op("astype",
               [&] { return make_tensor(x.context(), builder_of(x).cast(node_of(x), dtype)); });
}
Tensor bit_cast(const Tensor& x, DType dtype) {
  return as_op("bit_cast",
               [&] { return make_tensor(x.context(), builder_of(x).bit_cast(node_of(x), dtype)); });
}

Tensor negative(const Tensor& x) {
  return as_op("negative", [&] { return unary(Op::NEG, x); });
}
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
Tensor maximum(const Tensor& a, const Tensor& b) { return binary("maximum", Op::MAX, a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return binary("minimum", Op::MIN, a, b); }

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  Operands sides = promote_and_broadcast("where", a, b);
  const Shape shape = broadcast_shapes("where", dims_of(condition), sides.a->shape);
  Context& context = is_number(condition) ? *sides.context : condition.context();
  TN_REQUIRE(sides.context == &context || (a.state()->number && b.state()->number),
             "[where] expected tensors of one context, got two");
  Builder& builder = builder_of(context);
  const NodeRef chosen =
      is_number(condition) ? builder.constant(condition.state()->number->as("where", DType::kBool))
                           : node_of(condition);
  return make_tensor(context, builder.where(broadcast_to(builder, chosen, shape),
                                            broadcast_to(builder, sides.a, shape),
                                            broadcast_to(builder, sides.b, shape)));
}

Tensor operator+(const Tensor& a, const Tensor& b) { return binary("add", Op::ADD, a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return binary("subtract", Op::SUB, a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return binary("multiply", Op::MUL, a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) {
  const bool is_real = is_float(a.dtype()) || is_float(b.dtype());
  return binary("divide", is_real ? Op::FDIV : Op::IDIV, a, b);
}
Tensor operator%(const Tensor& a, const Tensor& b) { return binary("remainder", Op::MOD, a, b); }
Tensor operator-(const Tensor& a) { return negative(a); }
Tensor operator<(const Tensor& a, const Tensor& b) { return binary("less", Op::CMPLT, a, b); }
Tensor operator>(const Tensor& a, const Tensor& b) { return binary("greater", Op::CMPLT, b, a); }
Tensor operator==(const Tensor& a, const Tensor& b) { return binary("equal", Op::CMPEQ, a, b); }
Tensor operator!=(const Tensor& a, const Tensor& b) { return binary("not_equal", Op::CMPNE, a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) {  // false for NaN
  return as_op("less_equal", [&] { return (a < b) | (a == b); });
}
Tensor operator>=(const Tensor& a, const Tensor& b) {
  return as_op("greater_equal", [&] { return b <= a; });
}
Tensor operator&(const Tensor& a, const Tensor& b) { return binary("bitwise_and", Op::AND, a, b); }
Tensor operator|(const Tensor& a, const Tensor& b) { return binary("bitwise_or", Op::OR, a, b); }
Tensor operator^(const Tensor& a, const Tensor& b) { return binary("bitwise_xor", Op::XOR, a, b); }

#define TENON_ASSIGN(op, name) \
  Tensor& operator op##=(Tensor& a, const Tensor& b) { return assign(name, a, a op b); }
TENON_ASSIGN(+, "add")
TENON_ASSIGN(-, "subtract")
TENON_ASSIGN(*, "multiply")
TENON_ASSIGN(/, "divide")
TENON_ASSIGN(%, "remainder")
TENON_ASSIGN(&, "bitwise_and")
TENON_ASSIGN(|, "bitwise_or")
TENON_ASSIGN(^, "bitwise_xor")
TENON_ASSIGN(<<, "left_shift")
TENON_ASSIGN(>>, "right_shift")
#undef TENON_ASSIGN

}  // namespace tenon
