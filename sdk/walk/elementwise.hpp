// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every elementwise op of ops.def, in the few of an IR builder.
#pragma once

#include <string>
#include <vector>

#include "sdk/program/op_info.hpp"
#include "sdk/support/failure.hpp"
#include "sdk/walk/numbers.hpp"

namespace tenon::sdk {

template <IrBuilder B>
class Elementwise : public Numbers<B> {
 public:
  using typename Numbers<B>::Value;
  using Numbers<B>::Numbers;

  /// `from` is the dtype of the operands (the last one for WHERE), `to` that of the value. CASTs
  /// are in Numbers.
  Value apply(uint16_t op, uint8_t from, uint8_t to, std::vector<Value> x) {
    if (op == TN_OP_WHERE) return b.select(kind_of(to), x[0], x[1], x[2]);
    if (op_info(op)->kind == OpKind::COMPARE) return compared(op, from, x);
    if (from == TN_DTYPE_BOOL) return logical(op, x);
    if (!is_float(from)) {
      const Value out = whole(op, from, x);
      return kind_of(from) == Kind::kI32 ? extended(out, from) : out;
    }
    if (op == TN_OP_NEG) return flipped(x[0], from);
    const Kind kind = kind_of(from);
    if (kind == Kind::kF32 || kind == Kind::kF64) return real_op(op, kind, x);
    for (Value& each : x) each = wide(each, from);
    return narrowed(op == TN_OP_FMA ? fma_odd(x) : real_op(op, Kind::kF64, x), from);
  }

 protected:
  using Numbers<B>::b, Numbers<B>::integer, Numbers<B>::real, Numbers<B>::extended,
      Numbers<B>::wide, Numbers<B>::narrowed, Numbers<B>::less, Numbers<B>::mask, Numbers<B>::both,
      Numbers<B>::negative, Numbers<B>::plus;

 private:
  [[noreturn]] static void refuse(uint16_t op) {
    throw Failure(TN_ERROR_UNSUPPORTED, "walk: has no form of " + std::string(op_text(op)));
  }
  static bool is_unsigned_word(uint8_t dtype) {
    return dtype == TN_DTYPE_U32 || dtype == TN_DTYPE_U64;  // narrower ones are never negative
  }

  Value compared(uint16_t op, uint8_t from, std::vector<Value> x) {
    Kind kind = kind_of(from);
    if (is_narrow_float(from)) {
      kind = Kind::kF64;
      for (Value& each : x) each = wide(each, from);
    }
    const Compare order = is_unsigned_word(from) ? Compare::kUnsignedLess : Compare::kLess;
    const Compare how = op == TN_OP_CMPLT   ? order
                        : op == TN_OP_CMPEQ ? Compare::kEqual
                                            : Compare::kNotEqual;
    return b.compare(how, kind, x[0], x[1]);
  }

  Value logical(uint16_t op, const std::vector<Value>& x) {
    const bool is_and = op == TN_OP_AND || op == TN_OP_MUL || op == TN_OP_MIN;
    const bool is_or = op == TN_OP_OR || op == TN_OP_ADD || op == TN_OP_MAX;
    if (!is_and && !is_or && op != TN_OP_XOR) refuse(op);
    return b.binary(is_and  ? Binary::kAnd
                    : is_or ? Binary::kOr
                            : Binary::kXor,
                    Kind::kI32, x[0], x[1]);
  }

  // ---- Floats ----
  Value flipped(Value x, uint8_t dtype) {
    const Kind kind = kind_of(dtype), bits = kind == Kind::kF64 ? Kind::kI64 : Kind::kI32;
    const Value sign = integer(bits, dtype_info(dtype)->format.sign);
    if (kind == Kind::kI32) return b.binary(Binary::kXor, kind, x, sign);
    return b.bits(b.binary(Binary::kXor, bits, b.bits(x, kind, bits), sign), bits, kind);
  }

  Value real_op(uint16_t op, Kind kind, const std::vector<Value>& x) {
    switch (op) {
      case TN_OP_ADD:
        return b.binary(Binary::kAdd, kind, x[0], x[1]);
      case TN_OP_SUB:
        return b.binary(Binary::kSub, kind, x[0], x[1]);
      case TN_OP_MUL:
        return b.binary(Binary::kMul, kind, x[0], x[1]);
      case TN_OP_FDIV:
        return b.binary(Binary::kDiv, kind, x[0], x[1]);
      case TN_OP_RECIP:
        return b.binary(Binary::kDiv, kind, real(kind, 1), x[0]);
      case TN_OP_MAX:
      case TN_OP_MIN:
        return extreme(op == TN_OP_MAX, kind, x[0], x[1]);
      default:
        break;
    }
    const OpSpelling& spelling = op_info(op)->spelling;
    if (spelling.by != OpSpelling::By::kCall && spelling.by != OpSpelling::By::kMath) refuse(op);
    const std::string name = std::string(spelling.word) + (kind == Kind::kF32 ? "f" : "");
    return b.call(name, kind, std::span<const Value>(x));
  }

  /// NaN if either is; of equal numbers, which may be zeros of different sign, the bits are joined.
  Value extreme(bool is_max, Kind kind, Value x, Value y) {
    const Kind bits = kind == Kind::kF64 ? Kind::kI64 : Kind::kI32;
    const Value joined = b.bits(b.binary(is_max ? Binary::kAnd : Binary::kOr, bits,
                                         b.bits(x, kind, bits), b.bits(y, kind, bits)),
                                bits, kind);
    const Value is_less = less(kind, x, y);
    Value out = b.select(kind, is_less, is_max ? y : x, is_max ? x : y);
    out = b.select(kind, b.compare(Compare::kEqual, kind, x, y), joined, out);
    out = b.select(kind, b.compare(Compare::kNotEqual, kind, y, y), y, out);
    return b.select(kind, b.compare(Compare::kNotEqual, kind, x, x), x, out);
  }

  /// x*y+z of narrow floats in f64, rounded to odd, so that rounding it again rounds once: x*y is
  /// exact, and the error of the sum is that of Knuth's two-sum.
  Value fma_odd(const std::vector<Value>& x) {
    const Kind kind = Kind::kF64, word = Kind::kI64;
    const auto minus = [&](Value p, Value q) { return b.binary(Binary::kSub, kind, p, q); };
    const Value zero = real(kind, 0);
    const Value product = b.binary(Binary::kMul, kind, x[0], x[1]);
    const Value sum = b.binary(Binary::kAdd, kind, product, x[2]), part = minus(sum, product);
    const Value error =
        b.binary(Binary::kAdd, kind, minus(product, minus(sum, part)), minus(x[2], part));
    const Value bits = b.bits(sum, kind, word);
    const Value is_finite =
        less(word, mask(word, bits, ~uint64_t{0} >> 1), integer(word, uint64_t{0x7ff} << 52));
    const Value is_even = b.compare(Compare::kEqual, word, mask(word, bits, 1), integer(word, 0));
    const Value is_inexact = b.compare(Compare::kNotEqual, kind, error, zero);
    const Value is_outwards =
        b.compare(Compare::kEqual, Kind::kI32, less(kind, zero, error), less(kind, zero, sum));
    const Value odd =
        b.select(word, is_outwards, plus(word, bits, 1), plus(word, bits, ~uint64_t{0}));
    return b.bits(b.select(word, both(both(is_finite, is_even), is_inexact), odd, bits), word,
                  kind);
  }

  // ---- Integers ----
  Value whole(uint16_t op, uint8_t dtype, const std::vector<Value>& x) {
    const Kind kind = kind_of(dtype);
    const auto binary = [&](Binary which) { return b.binary(which, kind, x[0], x[1]); };
    switch (op) {
      case TN_OP_ADD:
        return binary(Binary::kAdd);
      case TN_OP_SUB:
        return binary(Binary::kSub);
      case TN_OP_MUL:
        return binary(Binary::kMul);
      case TN_OP_AND:
        return binary(Binary::kAnd);
      case TN_OP_OR:
        return binary(Binary::kOr);
      case TN_OP_XOR:
        return binary(Binary::kXor);
      case TN_OP_NEG:
        return negative(kind, x[0]);
      case TN_OP_MAX:
      case TN_OP_MIN: {
        const Value is_less = compared(TN_OP_CMPLT, dtype, x);
        return b.select(kind, is_less, x[op == TN_OP_MAX], x[op == TN_OP_MIN]);
      }
      case TN_OP_IDIV:
        return quotient(dtype, x[0], x[1]);
      case TN_OP_MOD:
        return b.binary(Binary::kSub, kind, x[0],
                        b.binary(Binary::kMul, kind, quotient(dtype, x[0], x[1]), x[1]));
      case TN_OP_SHL:
      case TN_OP_SHR:
        return shifted(op, dtype, x[0], x[1]);
      default:
        refuse(op);
    }
  }

  /// 0 if y is 0; -x, which wraps, if it is -1.
  Value quotient(uint8_t dtype, Value x, Value y) {
    const Kind kind = kind_of(dtype);
    const auto is = [&](uint64_t number) {
      return b.compare(Compare::kEqual, kind, y, integer(kind, number));
    };
    const bool has_sign = is_signed(dtype);
    const Value is_zero = is(0);
    Value divisor = b.select(kind, is_zero, integer(kind, 1), y);
    if (has_sign) divisor = b.select(kind, is(~uint64_t{0}), integer(kind, 1), divisor);
    Value out = b.binary(has_sign ? Binary::kDiv : Binary::kUnsignedDiv, kind, x, divisor);
    if (has_sign) out = b.select(kind, is(~uint64_t{0}), negative(kind, x), out);
    return b.select(kind, is_zero, integer(kind, 0), out);
  }

  /// As if by y bits one after the other; a negative y is beyond the width.
  Value shifted(uint16_t op, uint8_t dtype, Value x, Value y) {
    const Kind kind = kind_of(dtype);
    const uint64_t bits = uint64_t{8} * dtype_info(dtype)->bytes;
    const Value is_inside = b.compare(Compare::kUnsignedLess, kind, y, integer(kind, bits));
    if (op == TN_OP_SHR && is_signed(dtype)) {
      return b.binary(Binary::kSar, kind, x, b.select(kind, is_inside, y, integer(kind, bits - 1)));
    }
    const Value count = b.select(kind, is_inside, y, integer(kind, 0));
    const Value out = b.binary(op == TN_OP_SHL ? Binary::kShl : Binary::kShr, kind, x, count);
    return b.select(kind, is_inside, out, integer(kind, 0));
  }
};

}  // namespace tenon::sdk
