// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/pair_ops.hpp"

#include <cmath>

#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr uint64_t kLowWord = 0xFFFFFFFF, kSign = uint64_t{1} << 63;

}  // namespace

Pair PairOps::constant(uint64_t bits, int lanes) {
  return {words_.constant(DType::kU32, bits & kLowWord, lanes),
          words_.constant(DType::kU32, bits >> 32, lanes)};
}

Pair PairOps::select(Value condition, const Pair& x, const Pair& y) {
  return {words_.select(condition, x.low, y.low), words_.select(condition, x.high, y.high)};
}

PairOps::Value PairOps::is_zero(const Pair& x) {
  return words_.below(words_.either(x.low, x.high), 1);
}

PairOps::Value PairOps::is_negative(const Pair& x) {
  return words_.less(word(0x7FFFFFFF, x.high), x.high);
}

PairOps::Value PairOps::less(const Pair& x, const Pair& y, bool is_signed) {
  const auto high = [&](Value v) { return is_signed ? words_.bit_cast(v, DType::kI32) : v; };
  return words_.op(TN_OP_WHERE, DType::kBool,
                   {words_.unequal(x.high, y.high), words_.less(high(x.high), high(y.high)),
                    words_.less(x.low, y.low)});
}

PairOps::Value PairOps::compare(tn_opcode op, DType dtype, const Pair& x, const Pair& y) {
  if (op == TN_OP_CMPLT) return less(x, y, is_signed(dtype));
  const Value differ = any(words_.unequal(x.low, y.low), words_.unequal(x.high, y.high));
  return op == TN_OP_CMPNE ? differ : opposite(differ);
}

Pair PairOps::add(const Pair& x, const Pair& y) {
  const Value low = words_.add(x.low, y.low);
  const Value carry = words_.value_cast(words_.less(low, x.low), DType::kU32);
  return {low, words_.add(words_.add(x.high, y.high), carry)};
}

Pair PairOps::subtract(const Pair& x, const Pair& y) {
  const Value borrow = words_.value_cast(words_.less(x.low, y.low), DType::kU32);
  return {words_.subtract(x.low, y.low), words_.subtract(words_.subtract(x.high, y.high), borrow)};
}

Pair PairOps::negate(const Pair& x) { return subtract(constant(0, words_.lanes(x.low)), x); }

Pair PairOps::magnitude(const Pair& x) { return select(is_negative(x), negate(x), x); }

/// Four products of half words (Warren, "Hacker's Delight", 8-2).
PairOps::Value PairOps::multiply_high(Value x, Value y) {
  const auto low = [&](Value v) { return words_.mask(v, 0xFFFF); };
  const auto high = [&](Value v) { return words_.shift_right(v, 16); };
  const Value first = words_.multiply(low(x), low(y));
  const Value second = words_.add(words_.multiply(high(x), low(y)), high(first));
  const Value third = words_.add(words_.multiply(low(x), high(y)), low(second));
  return words_.add(words_.add(words_.multiply(high(x), high(y)), high(second)), high(third));
}

Pair PairOps::multiply(const Pair& x, const Pair& y) {
  const Value crossed = words_.add(words_.multiply(x.low, y.high), words_.multiply(x.high, y.low));
  return {words_.multiply(x.low, y.low), words_.add(multiply_high(x.low, y.low), crossed)};
}

/// Relies on ops.def: a shift of a word by 32 gives 0.
Pair PairOps::shift_left(const Pair& x, const Pair& by) {
  const auto shift = [&](tn_opcode op, Value v, Value n) {
    return words_.op(op, DType::kU32, {v, n});
  };
  const Value n = words_.mask(by.low, 31);
  const Value back = words_.subtract(word(32, n), n);
  const Value crossing = words_.either(shift(TN_OP_SHL, x.high, n), shift(TN_OP_SHR, x.low, back));
  const Value moved = shift(TN_OP_SHL, x.low, n), zero = word(0, n);
  const Value is_far = words_.less(word(31, n), by.low);
  const Pair in_range = select(is_far, {zero, moved}, {moved, crossing});
  const Value is_out = any(words_.unequal(by.high, zero), words_.less(word(63, n), by.low));
  return select(is_out, {zero, zero}, in_range);
}

Pair PairOps::shift_right(const Pair& x, const Pair& by, bool is_signed) {
  const auto shift = [&](tn_opcode op, Value v, Value m) {
    return words_.op(op, DType::kU32, {v, m});
  };
  const Value n = words_.mask(by.low, 31), zero = word(0, n);
  const Value back = words_.subtract(word(32, n), n);
  const Value fill =
      is_signed ? words_.select(is_negative(x), word(0xFFFFFFFF, x.high), zero) : zero;
  const Value crossing = words_.either(shift(TN_OP_SHR, x.low, n), shift(TN_OP_SHL, x.high, back));
  const Value moved = words_.either(shift(TN_OP_SHR, x.high, n), shift(TN_OP_SHL, fill, back));
  const Value is_far = words_.less(word(31, n), by.low);
  const Pair in_range = select(is_far, {moved, fill}, {crossing, moved});
  const Value is_out = any(words_.unequal(by.high, zero), words_.less(word(63, n), by.low));
  return select(is_out, {fill, fill}, in_range);
}

/// Long division by bits, highest first: bits of x move from `rest` to `part`, and the quotient's
/// bits enter `rest`.
Pair PairOps::divide(tn_opcode op, const Pair& x, const Pair& y, bool is_signed) {
  const Pair n = is_signed ? magnitude(x) : x, d = is_signed ? magnitude(y) : y;
  const int lanes = std::max(words_.lanes(x.low), words_.lanes(y.low));
  const Value zero = words_.constant(DType::kU32, 0, lanes);
  const auto counter = [&](uint64_t v) { return words_.constant(DType::kI32, v); };
  const auto spread = [&](Value v) { return words_.either(v, zero); };  // in every lane
  const Value initial[] = {spread(n.low), spread(n.high), zero, zero};
  const Value loop = tree_.begin_loop(counter(0), counter(64), counter(1), initial);
  const Pair rest{loop + 1, loop + 2}, part{loop + 3, loop + 4};
  const auto doubled = [&](const Pair& v, Value lowest) {
    return Pair{words_.either(words_.shift_left(v.low, 1), lowest),
                words_.either(words_.shift_left(v.high, 1), words_.shift_right(v.low, 31))};
  };
  const Pair grown = doubled(part, words_.shift_right(rest.high, 31));
  // If the highest bit is shifted out, the number exceeds any divisor.
  const Value goes_in = any(is_negative(part), opposite(less(grown, d, false)));
  const Pair left = select(goes_in, subtract(grown, d), grown);
  const Pair next = doubled(rest, words_.value_cast(goes_in, DType::kU32));
  const std::vector<Value> done =
      tree_.end_loop(std::vector<Value>{next.low, next.high, left.low, left.high});
  Pair result = op == TN_OP_IDIV ? Pair{done[0], done[1]} : Pair{done[2], done[3]};
  if (is_signed) {
    Value is_negated = is_negative(x);
    if (op == TN_OP_IDIV)
      is_negated = words_.op(TN_OP_XOR, DType::kBool, {is_negated, is_negative(y)});
    result = select(is_negated, negate(result), result);
  }
  return select(is_zero(y), op == TN_OP_IDIV ? constant(0, lanes) : x, result);
}

Pair PairOps::arithmetic(tn_opcode op, DType dtype, const Pair& x, const Pair& y) {
  const bool is_signed = tenon::is_signed(dtype);
  switch (op) {
    case TN_OP_ADD:
      return add(x, y);
    case TN_OP_SUB:
      return subtract(x, y);
    case TN_OP_NEG:
      return negate(x);
    case TN_OP_MUL:
      return multiply(x, y);
    case TN_OP_IDIV:
    case TN_OP_MOD:
      return divide(op, x, y, is_signed);
    case TN_OP_MAX:
      return select(less(x, y, is_signed), y, x);
    case TN_OP_MIN:
      return select(less(x, y, is_signed), x, y);
    case TN_OP_AND:
    case TN_OP_OR:
    case TN_OP_XOR:
      return {words_.op(op, DType::kU32, {x.low, y.low}),
              words_.op(op, DType::kU32, {x.high, y.high})};
    case TN_OP_SHL:
      return shift_left(x, y);
    case TN_OP_SHR:
      return shift_right(x, y, is_signed);
    default:
      fail(ErrorKind::kInternal, "[lower] expected an op that pairs of words have, got {} on {}",
           sdk::op_text(static_cast<uint16_t>(op)), dtype_name(dtype));
  }
}

Pair PairOps::widen(Value x, DType from, DType to) {
  if (is_float(from)) return from_float(x, from, to);
  const Value zero = word(0, x);
  if (from == DType::kBool || !is_signed(from)) return {words_.value_cast(x, DType::kU32), zero};
  const Value number = words_.value_cast(x, DType::kI32);
  return {words_.value_cast(number, DType::kU32),
          words_.select(words_.below(number, 0), word(0xFFFFFFFF, x), zero)};
}

PairOps::Value PairOps::narrow(const Pair& x, DType from, DType to) {
  if (to == DType::kBool) return opposite(is_zero(x));
  return is_float(to) ? to_float(x, from, to) : words_.value_cast(x.low, to);
}

/// Every step is exact, as a float has fewer bits than the integer. NaN gives 0 if casts to words
/// do so.
Pair PairOps::from_float(Value x, DType from, DType to) {
  const DType dtype = from == DType::kF64 ? from : DType::kF32;
  x = words_.value_cast(x, dtype);
  const int lanes = words_.lanes(x);
  const auto number = [&](double v) {
    return words_.constant(dtype, Scalar::of(dtype, v).bits, lanes);
  };
  const Value is_below = words_.less(x, number(0));
  const Value size = words_.select(is_below, words_.multiply(x, number(-1)), x);
  const Value high =
      words_.value_cast(words_.multiply(size, number(std::ldexp(1, -32))), DType::kU32);
  const Value taken = words_.multiply(words_.value_cast(high, dtype), number(-std::ldexp(1, 32)));
  const Pair whole{words_.value_cast(words_.add(size, taken), DType::kU32), high};
  // The largest float below 2^63 or 2^64.
  const int digits = dtype == DType::kF64 ? 53 : 24, bits = is_signed(to) ? 63 : 64;
  const double most = std::ldexp(1, bits) - std::ldexp(1, bits - digits);
  const Value is_beyond = words_.less(number(most), size);
  if (!is_signed(to)) {
    const Pair capped = select(is_beyond, constant(~uint64_t{0}, lanes), whole);
    return select(is_below, constant(0, lanes), capped);
  }
  const Pair positive = select(is_beyond, constant(kSign - 1, lanes), whole);
  const Pair negative = select(is_beyond, constant(kSign, lanes), negate(whole));
  return select(is_below, negative, positive);
}

/// Rounds once. f64 holds each word exactly. For others the number is shifted down to a word whose
/// last bit is a sticky bit, so that it rounds as the number does. A format narrower than f32 is
/// rounded from an f32 with such a bit, which is never a tie.
PairOps::Value PairOps::to_float(Pair x, DType from, DType to) {
  const int lanes = words_.lanes(x.low);
  const DType dtype = to == DType::kF64 ? to : DType::kF32;
  const auto number = [&](double v) {
    return words_.constant(dtype, Scalar::of(dtype, v).bits, lanes);
  };
  const bool has_sign = is_signed(from);
  const Value is_negated = has_sign ? is_negative(x) : 0;
  if (has_sign) x = magnitude(x);
  Value result = 0;
  if (to == DType::kF64) {
    const Value high = words_.multiply(words_.value_cast(x.high, dtype), number(std::ldexp(1, 32)));
    result = words_.add(high, words_.value_cast(x.low, dtype));
  } else {
    const auto sticky = [&](Value v) {
      return words_.value_cast(words_.unequal(v, word(0, v)), DType::kU32);
    };
    Value code = words_.either(x.high, sticky(x.low)), scale = number(std::ldexp(1, 32));
    for (const int n : {26, 20, 14, 8, 2, 0}) {
      Value moved = x.low;
      if (n > 0) {
        moved = words_.either(words_.shift_left(x.high, 32 - n), words_.shift_right(x.low, n));
        moved = words_.either(moved, sticky(words_.mask(x.low, (int64_t{1} << n) - 1)));
      }
      const Value fits = words_.below(x.high, int64_t{1} << n);
      code = words_.select(fits, moved, code);
      scale = words_.select(fits, number(std::ldexp(1, n)), scale);
    }
    if (to != DType::kF32) {
      const Value cut = words_.either(words_.mask(code, 0xFFFFFF00),
                                      words_.shift_left(sticky(words_.mask(code, 0xFF)), 8));
      code = words_.select(words_.below(code, int64_t{1} << 24), code, cut);
    }
    result = words_.multiply(words_.value_cast(code, dtype), scale);
  }
  if (has_sign) result = words_.select(is_negated, words_.multiply(result, number(-1)), result);
  return words_.value_cast(result, to);
}

}  // namespace tenon
