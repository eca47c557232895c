// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How values of each dtype are held in the four kinds of an IR builder, and casts between them,
// without branches.
//
// bool and integers below 32 bits are held in a kI32, extended by their sign. Floats narrower than
// f32 are held as their bits, and computed with in f64.
#pragma once

#include <bit>
#include <cmath>

#include "sdk/program/dtype_info.hpp"
#include "sdk/walk/builder.hpp"

namespace tenon::sdk {

constexpr Kind kind_of(uint8_t dtype) {
  if (dtype == TN_DTYPE_F32) return Kind::kF32;
  if (dtype == TN_DTYPE_F64) return Kind::kF64;
  return dtype == TN_DTYPE_I64 || dtype == TN_DTYPE_U64 ? Kind::kI64 : Kind::kI32;
}

constexpr Storage storage_of(uint8_t dtype) {
  if (dtype == TN_DTYPE_F32) return Storage::kF32;
  if (dtype == TN_DTYPE_F64) return Storage::kF64;
  const uint8_t bytes = dtype_info(dtype)->bytes;
  return bytes == 1   ? Storage::kI8
         : bytes == 2 ? Storage::kI16
         : bytes == 4 ? Storage::kI32
                      : Storage::kI64;
}

template <IrBuilder B>
class Numbers {
 public:
  using Value = typename B::Value;

  explicit Numbers(B& builder) : b(builder) {}

  Value integer(Kind kind, uint64_t value) {
    return b.constant(kind, kind == Kind::kI32 ? static_cast<uint32_t>(value) : value);
  }
  Value real(Kind kind, double value) {
    if (kind == Kind::kF64) return b.constant(kind, std::bit_cast<uint64_t>(value));
    return b.constant(kind, std::bit_cast<uint32_t>(static_cast<float>(value)));
  }
  /// A constant of a program, by its bits.
  Value constant(uint8_t dtype, uint64_t bits) {
    if (kind_of(dtype) != Kind::kI32 || !is_signed(dtype)) return b.constant(kind_of(dtype), bits);
    const int unused = 64 - 8 * dtype_info(dtype)->bytes;
    return integer(Kind::kI32,
                   static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused));
  }

  /// A kI32 whose bits beyond the dtype's are anything, as its dtype is held.
  Value extended(Value value, uint8_t dtype) {
    const unsigned bits = 8u * dtype_info(dtype)->bytes;
    if (bits == 32) return value;
    if (!is_signed(dtype)) return mask(Kind::kI32, value, (uint64_t{1} << bits) - 1);
    return shift(Binary::kSar, Kind::kI32, shift(Binary::kShl, Kind::kI32, value, 32 - bits),
                 32 - bits);
  }
  /// From the bits of a dtype in a kI64.
  Value from_word(Value word, uint8_t dtype) {
    const Kind kind = kind_of(dtype);
    if (kind == Kind::kI64) return word;
    if (kind == Kind::kF64) return b.bits(word, Kind::kI64, kind);
    const Value low = b.convert(word, Kind::kI64, Kind::kI32);
    return kind == Kind::kF32 ? b.bits(low, Kind::kI32, kind) : extended(low, dtype);
  }

  Value cast(Value value, uint8_t from, uint8_t to) {
    if (from == to) return value;
    if (to == TN_DTYPE_BOOL) return truth(value, from);
    if (is_float(from)) {
      if (!is_float(to)) return saturated(wide(value, from), to);
      return narrowed(wide(value, from), to);
    }
    if (is_float(to)) return float_of(value, from, to);
    if (kind_of(to) == Kind::kI64) return long_of(value, from);
    if (kind_of(from) == Kind::kI64) value = b.convert(value, Kind::kI64, Kind::kI32);
    return extended(value, to);
  }

  Value bit_cast(Value value, uint8_t from, uint8_t to) {
    const Kind is = kind_of(from), becomes = kind_of(to);
    if (is != becomes) return b.bits(value, is, becomes);
    if (to == TN_DTYPE_BOOL) return b.compare(Compare::kNotEqual, is, value, integer(is, 0));
    return is == Kind::kI32 ? extended(value, to) : value;
  }

  /// A float as a kF64, exactly.
  Value wide(Value value, uint8_t dtype) {
    if (dtype == TN_DTYPE_F64) return value;
    if (dtype == TN_DTYPE_F32) return b.convert(value, Kind::kF32, Kind::kF64);
    return decoded(value, dtype_info(dtype)->format);
  }
  /// A kF64 rounded once to a float.
  Value narrowed(Value value, uint8_t dtype) {
    if (dtype == TN_DTYPE_F64) return value;
    if (dtype == TN_DTYPE_F32) return b.convert(value, Kind::kF64, Kind::kF32);
    return encoded(value, dtype_info(dtype)->format);
  }

 protected:
  Value shift(Binary op, Kind kind, Value value, uint64_t count) {
    return count ? b.binary(op, kind, value, integer(kind, count)) : value;
  }
  Value mask(Kind kind, Value value, uint64_t bits) {
    return b.binary(Binary::kAnd, kind, value, integer(kind, bits));
  }
  Value plus(Kind kind, Value value, uint64_t number) {
    return b.binary(Binary::kAdd, kind, value, integer(kind, number));
  }
  Value less(Kind kind, Value x, Value y) { return b.compare(Compare::kLess, kind, x, y); }
  Value both(Value x, Value y) { return b.binary(Binary::kAnd, Kind::kI32, x, y); }
  Value negative(Kind kind, Value x) { return b.binary(Binary::kSub, kind, integer(kind, 0), x); }

  Value truth(Value value, uint8_t from) {
    if (is_float(from)) {
      return b.compare(Compare::kNotEqual, Kind::kF64, wide(value, from), real(Kind::kF64, 0));
    }
    const Kind kind = kind_of(from);
    return b.compare(Compare::kNotEqual, kind, value, integer(kind, 0));
  }

  Value long_of(Value value, uint8_t from) {
    if (kind_of(from) == Kind::kI64) return value;
    const Value word = b.convert(value, Kind::kI32, Kind::kI64);
    return from == TN_DTYPE_U32 ? mask(Kind::kI64, word, 0xffffffff) : word;
  }

  /// An integer or bool to a float, rounded once.
  Value float_of(Value value, uint8_t from, uint8_t to) {
    const bool is_wide = to == TN_DTYPE_F32 || to == TN_DTYPE_F64;
    const Kind kind = is_wide ? kind_of(to) : Kind::kF64;
    if (from == TN_DTYPE_U64 || from == TN_DTYPE_I64) {
      if (!is_wide) return narrowed(odd(value, from), to);
      return from == TN_DTYPE_U64 ? unsigned_to(kind, value) : b.convert(value, Kind::kI64, kind);
    }
    const Value out = from == TN_DTYPE_U32 ? b.convert(long_of(value, from), Kind::kI64, kind)
                                           : b.convert(value, Kind::kI32, kind);
    return is_wide ? out : narrowed(out, to);
  }
  /// An unsigned kI64 to a float. The upper half is halved, with a sticky last bit, and doubled.
  Value unsigned_to(Kind kind, Value value) {
    const Value is_large = less(Kind::kI64, value, integer(Kind::kI64, 0));
    const Value half = b.binary(Binary::kOr, Kind::kI64, shift(Binary::kShr, Kind::kI64, value, 1),
                                mask(Kind::kI64, value, 1));
    const Value out = b.convert(b.select(Kind::kI64, is_large, half, value), Kind::kI64, kind);
    return b.select(kind, is_large, b.binary(Binary::kAdd, kind, out, out), out);
  }
  /// A 64-bit integer as a kF64 whose last bit is sticky, so that rounding it again rounds once.
  Value odd(Value value, uint8_t from) {
    const Kind kind = Kind::kI64;
    const Value zero = integer(kind, 0), is_negative = less(kind, value, zero);
    const bool has_sign = from == TN_DTYPE_I64;
    const Value magnitude =
        has_sign ? b.select(kind, is_negative, negative(kind, value), value) : value;
    const Value is_inexact =
        b.compare(Compare::kNotEqual, kind, mask(kind, magnitude, 0x7ff), zero);
    const Value sticky = b.binary(Binary::kOr, kind, mask(kind, magnitude, ~uint64_t{0x7ff}),
                                  b.select(kind, is_inexact, integer(kind, 0x800), zero));
    const Value is_long =
        b.compare(Compare::kNotEqual, kind, shift(Binary::kShr, kind, magnitude, 53), zero);
    const Value out = unsigned_to(Kind::kF64, b.select(kind, is_long, sticky, magnitude));
    if (!has_sign) return out;
    const Value below = b.binary(Binary::kSub, Kind::kF64, real(Kind::kF64, 0), out);
    return b.select(Kind::kF64, is_negative, below, out);
  }

  /// A kF64 to an integer: truncates, saturates, NaN gives 0.
  Value saturated(Value x, uint8_t to) {
    const bool has_sign = is_signed(to);
    const int digits = 8 * dtype_info(to)->bytes - has_sign;
    const double end = std::ldexp(1.0, digits), least = has_sign ? -end : 0;
    const auto number = [&](double value) { return real(Kind::kF64, value); };
    const Value is_inside = both(less(Kind::kF64, number(std::nextafter(least, -INFINITY)), x),
                                 less(Kind::kF64, x, number(end)));
    Value inside = b.select(Kind::kF64, is_inside, x, number(0));
    Value out = digits == 64 ? upper_half(inside) : b.convert(inside, Kind::kF64, Kind::kI64);
    const Kind kind = kind_of(to);
    if (kind == Kind::kI32) out = b.convert(out, Kind::kI64, kind);
    const uint64_t most = ~uint64_t{0} >> (64 - digits);
    const Value is_over = less(Kind::kF64, number(std::nextafter(end, 0)), x);
    out = b.select(kind, is_over, integer(kind, most), out);
    if (!has_sign) return out;
    return b.select(kind, less(Kind::kF64, x, number(least)), integer(kind, ~most), out);
  }
  /// A kF64 in [0, 2^64) to an unsigned kI64.
  Value upper_half(Value x) {
    const Value middle = real(Kind::kF64, std::ldexp(1.0, 63));
    const Value is_low = less(Kind::kF64, x, middle);
    const Value part =
        b.select(Kind::kF64, is_low, x, b.binary(Binary::kSub, Kind::kF64, x, middle));
    const Value top = b.select(Kind::kI64, is_low, integer(Kind::kI64, 0),
                               integer(Kind::kI64, uint64_t{1} << 63));
    return b.binary(Binary::kXor, Kind::kI64, b.convert(part, Kind::kF64, Kind::kI64), top);
  }

  // ---- Narrow floats: as decode_narrow and encode_narrow, on values of the builder ----
  static constexpr uint64_t kFraction = (uint64_t{1} << 52) - 1, kInfinity = uint64_t{0x7ff} << 52;

  Value decoded(Value narrow, const NarrowFormat& f) {
    const Kind kind = Kind::kI64;
    const Value bits = b.convert(narrow, Kind::kI32, kind), code = mask(kind, bits, f.sign - 1);
    const int m = f.mantissa_bits;
    const Value sign =
        shift(Binary::kShl, kind, mask(kind, bits, f.sign), 64u - std::bit_width(f.sign));
    const Value fraction = mask(kind, shift(Binary::kShl, kind, code, 52u - m), kFraction);
    const auto joined = [&](Value x, Value y) { return b.binary(Binary::kOr, kind, x, y); };
    const Value exponent = plus(kind, shift(Binary::kShr, kind, code, m), 1023u - f.bias);
    const Value normal = joined(shift(Binary::kShl, kind, exponent, 52), fraction);
    const Value unit = real(Kind::kF64, std::ldexp(1.0, 1 - f.bias - m));
    const Value subnormal =
        b.bits(b.binary(Binary::kMul, Kind::kF64, b.convert(code, kind, Kind::kF64), unit),
               Kind::kF64, kind);
    Value out =
        b.select(kind, less(kind, code, integer(kind, uint64_t{1} << m)), subnormal, normal);
    Value special = joined(fraction, integer(kind, kInfinity | uint64_t{1} << 51));
    if (f.has_infinity) {
      const Value is_infinity = b.compare(Compare::kEqual, kind, code, integer(kind, f.overflow));
      special = b.select(kind, is_infinity, integer(kind, kInfinity), special);
    }
    out = b.select(kind, less(kind, integer(kind, f.max_finite), code), special, out);
    return b.bits(joined(out, sign), kind, Kind::kF64);
  }

  Value encoded(Value x, const NarrowFormat& f) {
    const Kind kind = Kind::kI64;
    const int m = f.mantissa_bits;
    const Value bits = b.bits(x, Kind::kF64, kind), magnitude = mask(kind, bits, ~uint64_t{0} >> 1);
    const Value sign =
        mask(kind, shift(Binary::kShr, kind, bits, 64u - std::bit_width(f.sign)), f.sign);
    const auto number = [&](int64_t value) { return integer(kind, static_cast<uint64_t>(value)); };
    const Value exponent =
        plus(kind, shift(Binary::kShr, kind, magnitude, 52), static_cast<uint64_t>(-1023));
    const int least = 1 - f.bias, most = f.bias + 1;
    const Value is_over = less(kind, number(most), exponent);
    Value top = b.select(kind, less(kind, exponent, number(least)), number(least), exponent);
    top = b.select(kind, is_over, number(most), top);
    // Integer units in the last place: adding 2^52 rounds to them, to even.
    const Value scale =
        b.bits(shift(Binary::kShl, kind, b.binary(Binary::kSub, kind, number(m + 1023), top), 52),
               kind, Kind::kF64);
    const Value scaled =
        b.binary(Binary::kMul, Kind::kF64, b.bits(magnitude, kind, Kind::kF64), scale);
    const Value rounded =
        b.binary(Binary::kAdd, Kind::kF64, scaled, real(Kind::kF64, std::ldexp(1.0, 52)));
    const Value units = mask(kind, b.bits(rounded, Kind::kF64, kind), kFraction);
    // The leading one of the units adds one to the exponent, as does a carry.
    const Value field =
        shift(Binary::kShl, kind, plus(kind, top, static_cast<uint64_t>(-least)), m);
    Value code = b.binary(Binary::kAdd, kind, field, units);
    const Value over = integer(kind, f.overflow);
    code = b.select(kind, less(kind, integer(kind, f.max_finite), code), over, code);
    code = b.binary(Binary::kOr, kind, b.select(kind, is_over, over, code), sign);
    Value nan = integer(kind, f.quiet_nan);
    if (f.has_infinity) {
      const Value payload = shift(Binary::kShr, kind, mask(kind, bits, kFraction), 52u - m);
      nan = b.binary(Binary::kOr, kind, b.binary(Binary::kOr, kind, nan, payload), sign);
    }
    code = b.select(kind, less(kind, integer(kind, kInfinity), magnitude), nan, code);
    return b.convert(code, kind, Kind::kI32);
  }

  B& b;
};

}  // namespace tenon::sdk
