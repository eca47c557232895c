// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/word_ops.hpp"

#include <bit>
#include <cmath>

#include "core/ir/narrow_float.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr int64_t kInfinity = 0x7f800000, kMagnitude = 0x7fffffff;  // of f32

uint32_t f32_bits(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }

/// Mantissa bits that f32 has more than the format, and the difference of the exponents' biases.
int extra_bits(const FloatFormat& format) { return 23 - format.mantissa_bits; }
int64_t rebias(const FloatFormat& format) { return int64_t{127 - format.bias} << 23; }

}  // namespace

DType carrier(DType dtype) {
  if (!is_narrow(dtype) || dtype == DType::kBool) return dtype;
  return is_int(dtype) && is_signed(dtype) ? DType::kI32 : DType::kU32;
}

WordOps::Value WordOps::constant(DType dtype, uint64_t bits, int lanes) {
  return tree_.pure(TN_OP_CONST, abi(dtype), static_cast<uint16_t>(lanes), {}, bits);
}

WordOps::Value WordOps::number(Value like, int64_t value) {
  return constant(dtype(like), Scalar::of_int(dtype(like), value).bits);
}

WordOps::Value WordOps::op(tn_opcode code, DType dtype, std::vector<Value> operands, uint64_t imm) {
  int lanes = 1;
  for (const Value v : operands) lanes = std::max(lanes, this->lanes(v));
  for (Value& v : operands) {
    if (this->lanes(v) == lanes) continue;
    const OpTree::Op& o = tree_.at(v);
    v = o.op == TN_OP_CONST ? constant(static_cast<DType>(o.dtype), o.imm, lanes)
                            : tree_.pure(TN_OP_BROADCAST, o.dtype, static_cast<uint16_t>(lanes),
                                         std::vector<Value>{v});
  }
  return tree_.pure(code, abi(dtype), static_cast<uint16_t>(lanes), operands, imm);
}

WordOps::Value WordOps::subtract(Value x, Value y) {
  if (capabilities_.has(Op::SUB)) return op(TN_OP_SUB, dtype(x), {x, y});
  return add(x, multiply(y, number(y, -1)));
}

WordOps::Value WordOps::value_cast(Value x, DType to) {
  return dtype(x) == to ? x : op(TN_OP_CAST, to, {x}, TN_CAST_VALUE);
}

WordOps::Value WordOps::bit_cast(Value x, DType to) {
  return dtype(x) == to ? x : op(TN_OP_CAST, to, {x}, TN_CAST_BITS);
}

WordOps::Value WordOps::shift_left(Value x, int n) {
  if (n == 0) return x;
  if (capabilities_.has(Op::SHL)) return op(TN_OP_SHL, dtype(x), {x, number(x, n)});
  return multiply(x, number(x, int64_t{1} << n));
}

WordOps::Value WordOps::shift_right(Value x, int n) {
  if (n == 0) return x;
  if (capabilities_.has(Op::SHR)) return op(TN_OP_SHR, dtype(x), {x, number(x, n)});
  return op(TN_OP_IDIV, dtype(x), {x, number(x, int64_t{1} << n)});
}

WordOps::Value WordOps::decode(Value bits, DType from) {
  const FloatFormat& format = float_format(from);
  const Value sign = shift_left(mask(bits, static_cast<int64_t>(format.sign)),
                                32 - static_cast<int>(dtype_bits(from)));
  const Value code = mask(bits, static_cast<int64_t>(format.sign) - 1);
  const Value moved = shift_left(code, extra_bits(format));
  if (format.bias == 127) return bit_cast(either(moved, sign), DType::kF32);  // bf16
  const Value normal = plus(moved, rebias(format));
  const Value special = either(moved, number(moved, kInfinity));
  // A subnormal is an integer times the unit; the f32 product is normal, so no device flushes it.
  const double unit = std::ldexp(1, 1 - format.bias - format.mantissa_bits);
  const Value subnormal = bit_cast(
      multiply(value_cast(code, DType::kF32), constant(DType::kF32, f32_bits(unit))), DType::kU32);
  Value magnitude =
      select(below(code, static_cast<int64_t>(format.max_finite) + 1), normal, special);
  magnitude = select(below(code, int64_t{1} << format.mantissa_bits), subnormal, magnitude);
  return bit_cast(either(magnitude, sign), DType::kF32);
}

WordOps::Value WordOps::encode(Value x, DType to) {
  const FloatFormat& format = float_format(to);
  const int extra = extra_bits(format);
  const Value bits = bit_cast(x, DType::kU32);
  const Value magnitude = mask(bits, kMagnitude);
  const Value sign = mask(shift_right(bits, 32 - static_cast<int>(dtype_bits(to))),
                          static_cast<int64_t>(format.sign));
  // Adds half a unit minus one, and one more if the last remaining bit is odd: ties to even.
  const Value odd = mask(shift_right(magnitude, extra), 1);
  const int64_t half = (int64_t{1} << (extra - 1)) - 1;
  Value code = shift_right(add(plus(magnitude, half - rebias(format)), odd), extra);
  if (format.bias != 127) {
    // Subnormals: added to a float whose unit is theirs, they are rounded correctly.
    const double base = std::ldexp(1, 24 - format.bias - format.mantissa_bits);
    const Value sum = op(TN_OP_ADD, DType::kF32,
                         {bit_cast(magnitude, DType::kF32), constant(DType::kF32, f32_bits(base))});
    const Value units = plus(bit_cast(sum, DType::kU32), -int64_t{f32_bits(base)});
    code = select(below(magnitude, int64_t{128 - format.bias} << 23), units, code);
  }
  const Value most = number(code, static_cast<int64_t>(format.max_finite));
  code = select(less(most, code), number(code, static_cast<int64_t>(format.overflow)), code);
  code = select(less(number(magnitude, kInfinity), magnitude),
                number(code, static_cast<int64_t>(format.quiet_nan)), code);
  return either(code, sign);
}

/// `last`: the format that the f32 is rounded to afterwards. To avoid double rounding the f32 is
/// rounded to odd (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums"): to the
/// neighbour whose last bit is 1, which is never a tie later.
WordOps::Value WordOps::to_f32(Value x, DType from, DType last) {
  if (is_narrow(from) && is_float(from)) return decode(x, from);
  const Value near = value_cast(x, DType::kF32);
  // Integers beyond 24 bits overflow formats with fewer exponents, or saturate at the same value.
  const bool holds_large = is_float(last) && is_narrow(last) && float_format(last).bias > 23;
  const bool twice = from == DType::kF64 || (is_int(from) && !is_narrow(from) && holds_large);
  if (!twice) return near;
  const Value back = value_cast(near, from);
  const Value bits = bit_cast(near, DType::kU32);
  const Value zero = number(x, 0);
  const Value larger = op(TN_OP_XOR, DType::kBool, {less(x, back), less(x, zero)});
  const Value neighbour = select(larger, plus(bits, -1), plus(bits, 1));
  const Value even = below(mask(bits, 1), 1);
  const Value inexact = op(TN_OP_OR, DType::kBool, {less(x, back), less(back, x)});
  const Value moves = op(TN_OP_AND, DType::kBool, {even, inexact});
  return bit_cast(select(moves, neighbour, bits), DType::kF32);
}

WordOps::Value WordOps::sign_extend(Value x, DType dtype) {
  const int64_t sign = int64_t{1} << (dtype_bits(dtype) - 1);
  const Value low = mask(value_cast(x, DType::kI32), 2 * sign - 1);
  return plus(op(TN_OP_XOR, DType::kI32, {low, number(low, sign)}), -sign);
}

WordOps::Value WordOps::to_integer(Value x, DType from, DType to) {
  if (is_float(from)) {
    if (is_narrow(from)) x = decode(x, from);
    const Value whole = value_cast(x, carrier(to));  // saturates, truncates; NaN gives 0
    if (!is_narrow(to)) return whole;
    const Value low = number(whole, lowest(to).as_int()),
                high = number(whole, highest(to).as_int());
    const Value capped = select(less(high, whole), high, whole);
    return is_signed(to) ? select(less(capped, low), low, capped) : capped;
  }
  if (!is_narrow(to) || from == DType::kBool) return value_cast(x, carrier(to));
  if (is_signed(to)) return sign_extend(x, to);
  return mask(value_cast(x, DType::kU32), highest(to).as_int());
}

WordOps::Value WordOps::to_bool(Value x, DType from) {
  if (is_narrow(from) && is_float(from))
    x = mask(x, static_cast<int64_t>(float_format(from).sign) - 1);
  return unequal(x, number(x, 0));
}

WordOps::Value WordOps::cast(Value x, DType from, DType to, bool bits) {
  if (bits) return from_bits(to_bits(x, from), to);
  if (from == to) return x;
  if (to == DType::kBool) return to_bool(x, from);
  if (is_int(to)) return to_integer(x, from, to);
  if (from == DType::kBool && is_narrow(to))
    return select(x, constant(DType::kU32, one(to).bits), constant(DType::kU32, 0));
  if (is_narrow(to)) return encode(to_f32(x, from, to), to);
  return value_cast(is_float(from) ? decode(x, from) : x, to);
}

WordOps::Value WordOps::from_bits(Value word, DType dtype) {
  if (dtype == DType::kBool) return unequal(word, number(word, 0));
  return is_int(dtype) && is_signed(dtype) ? sign_extend(word, dtype) : word;
}

WordOps::Value WordOps::to_bits(Value x, DType dtype) {
  const Value word = value_cast(x, DType::kU32);
  return is_int(dtype) && is_signed(dtype) ? mask(word, (int64_t{1} << dtype_bits(dtype)) - 1)
                                           : word;
}

}  // namespace tenon
