// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/scalar_op.hpp"

#include <bit>
#include <cmath>

#include "core/ir/narrow_float.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// Transcendental functions of f64 in long double, so that they round once.
template <class Narrow, class Wide>
double transcendental(DType dtype, double x, Narrow narrow, Wide wide) {
  if (dtype == DType::kF64) return static_cast<double>(wide(static_cast<long double>(x)));
  return narrow(x);
}

/// x*y+z for dtypes narrower than f64. The product is exact and the sum is rounded to odd, so the
/// later rounding to the dtype is correct.
double fma_op(DType dtype, double x, double y, double z) {
  if (dtype == DType::kF64) return std::fma(x, y, z);
  const double p = x * y;
  const double sum = p + z;
  if (!std::isfinite(sum)) return sum;
  const double z_part = sum - p;
  const double error = (p - (sum - z_part)) + (z - z_part);
  const auto bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1)) return sum;
  const bool away = (error > 0) == (sum > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

double max_op(double a, double b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

uint64_t divide(bool is_signed, uint64_t a, uint64_t b) {
  if (b == 0) return 0;
  if (!is_signed) return a / b;
  if (b == ~uint64_t{0}) return uint64_t{0} - a;
  return static_cast<uint64_t>(static_cast<int64_t>(a) / static_cast<int64_t>(b));
}

uint64_t shift_right(DType dtype, uint64_t a, uint64_t b) {
  const bool fill = is_signed(dtype) && static_cast<int64_t>(a) < 0;
  if (b >= dtype_bits(dtype)) return fill ? ~uint64_t{0} : 0;
  return fill ? ~(~a >> b) : a >> b;
}

/// Extended to 64 bits, as int_op expects.
uint64_t extend(const Scalar& s) { return static_cast<uint64_t>(s.as_int()); }

}  // namespace

ScalarClass scalar_class(Op op, DType operand) {
  if (op == Op::CAST) return ScalarClass::kCast;
  if (op == Op::WHERE) return ScalarClass::kBits;
  if (op_info(op).kind == OpKind::COMPARE) return ScalarClass::kCompare;
  if (!is_float(operand)) return ScalarClass::kInt;
  return op == Op::NEG ? ScalarClass::kBits : ScalarClass::kFloat;
}

// These switches handle the ops of one class, and list the others explicitly.
double float_op(Op op, DType dtype, double a, double b, double c) {
  const auto both = [&](auto narrow, auto wide) { return transcendental(dtype, a, narrow, wide); };
#define TN_BOTH(name) \
  both([](double x) { return std::name(x); }, [](long double x) { return std::name(x); })
  switch (op) {
    case Op::RECIP:
      return 1 / a;
    case Op::SQRT:
      return std::sqrt(a);
    case Op::EXP2:
      return TN_BOTH(exp2);
    case Op::LOG2:
      return TN_BOTH(log2);
    case Op::SIN:
      return TN_BOTH(sin);
    case Op::EXP:
      return TN_BOTH(exp);
    case Op::LN:
      return TN_BOTH(log);
    case Op::COS:
      return TN_BOTH(cos);
    case Op::ADD:
      return a + b;
    case Op::SUB:
      return a - b;
    case Op::MUL:
      return a * b;
    case Op::FDIV:
      return a / b;
    case Op::MAX:
      return max_op(a, b);
    case Op::MIN:
      return -max_op(-a, -b);
    case Op::TRUNC:
      return std::trunc(a);
    case Op::FLOOR:
      return std::floor(a);
    case Op::FMA:
      return fma_op(dtype, a, b, c);
    // NEG flips a bit; the others have no float operands or no float result.
    case Op::NEG:
    case Op::CAST:
    case Op::WHERE:
#define TN_WITHOUT_INT
#define TN_WITHOUT_COMPARE
#include "core/ir/not_elementwise.def"
      break;
  }
#undef TN_BOTH
  fail(ErrorKind::kInternal, "[{}] expected an op on floats", op_info(op).text);
}

uint64_t int_op(Op op, DType dtype, uint64_t a, uint64_t b) {
  const bool sign = is_signed(dtype);
  if (dtype == DType::kBool) {
    if (op == Op::ADD || op == Op::MAX) return a | b;
    if (op == Op::MUL || op == Op::MIN) return a & b;
  }
  switch (op) {
    case Op::ADD:
      return a + b;
    case Op::SUB:
      return a - b;
    case Op::NEG:
      return uint64_t{0} - a;
    case Op::MUL:
      return a * b;
    case Op::IDIV:
      return divide(sign, a, b);
    case Op::MOD:
      return a - divide(sign, a, b) * b;
    case Op::MAX:
      return int_compare(Op::CMPLT, sign, a, b) ? b : a;
    case Op::MIN:
      return int_compare(Op::CMPLT, sign, a, b) ? a : b;
    case Op::AND:
      return a & b;
    case Op::OR:
      return a | b;
    case Op::XOR:
      return a ^ b;
    case Op::SHL:
      return b < dtype_bits(dtype) ? a << b : 0;
    case Op::SHR:
      return shift_right(dtype, a, b);
    case Op::CAST:
    case Op::WHERE:
#define TN_WITHOUT_FLOAT
#define TN_WITHOUT_COMPARE
#include "core/ir/not_elementwise.def"
      break;
  }
  fail(ErrorKind::kInternal, "[{}] expected an op on integers", op_info(op).text);
}

bool float_compare(Op op, double a, double b) {
  if (op == Op::CMPLT) return a < b;
  return op == Op::CMPEQ ? a == b : !(a == b);
}

bool int_compare(Op op, bool is_signed, uint64_t a, uint64_t b) {
  if (op == Op::CMPLT) return is_signed ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
  return op == Op::CMPEQ ? a == b : a != b;
}

uint64_t bits_op(Op op, DType dtype, uint64_t a, uint64_t b, uint64_t c) {
  if (op == Op::WHERE) return a ? b : c;
  return negate_bits(a, dtype);
}

Scalar identity(Op op, DType dtype) {
  switch (op_info(op).identity) {
    case OpIdentity::ZERO:
      return zero(dtype);
    case OpIdentity::ONE:
      return one(dtype);
    case OpIdentity::LOWEST:
      return lowest(dtype);
    case OpIdentity::HIGHEST:
      return highest(dtype);
    case OpIdentity::NONE:
      break;
  }
  fail(ErrorKind::kInvalid, "[reduce] expected add, mul, max or min, got {}", op_info(op).text);
}

Scalar evaluate_scalar(Op op, DType dtype, std::span<const Scalar> operands) {
  TN_ASSERT(is_elementwise(op) && static_cast<int>(operands.size()) == op_info(op).arity);
  const Scalar& a = operands[0];
  const Scalar b = operands.size() > 1 ? operands[1] : Scalar{a.dtype, 0};
  const Scalar c = operands.size() > 2 ? operands[2] : Scalar{a.dtype, 0};
  switch (scalar_class(op, a.dtype)) {
    case ScalarClass::kCast:
      return cast(a, dtype);
    case ScalarClass::kBits:
      return {dtype, bits_op(op, dtype, a.bits, b.bits, c.bits)};
    case ScalarClass::kFloat:
      return Scalar::of(dtype, float_op(op, dtype, a.as_double(), b.as_double(), c.as_double()));
    case ScalarClass::kInt:
      return {dtype, low_bits(int_op(op, dtype, extend(a), extend(b)), dtype)};
    case ScalarClass::kCompare:
      return {DType::kBool, is_float(a.dtype)
                                ? float_compare(op, a.as_double(), b.as_double())
                                : int_compare(op, is_signed(a.dtype), extend(a), extend(b))};
  }
  TN_ASSERT(false);
  return {};
}

}  // namespace tenon
