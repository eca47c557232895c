// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CAST without branches. Each path to a narrow float rounds once: wider values first become an f32
// rounded to odd, whose last bit is set if the conversion was inexact.
#include "plugins/cpu/emit_cast.hpp"

#include <llvm/IR/Intrinsics.h>

#include <bit>
#include <cmath>

#include "sdk/program/dtype_info.hpp"

namespace tenon::cpu {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

Value* as_int(Builder& b, Value* v, unsigned bits) {
  return b.CreateBitCast(v, shaped_like(v, b.getIntNTy(bits)));
}

/// With an arithmetic fence: else LLVM 19 computes max(f32(x), f32(y)) on halves, which the target
/// lacks; it scalarises and loses a NaN.
Value* f16_to_f32(Builder& b, Value* bits) {
  Value* wide = b.CreateFPExt(b.CreateBitCast(bits, shaped_like(bits, b.getHalfTy())),
                              shaped_like(bits, b.getFloatTy()));
  return b.CreateArithmeticFence(wide, wide->getType());
}

/// Widens by bit fields a format with fewer exponents than f32.
Value* fields_to_f32(Builder& b, Value* bits, const sdk::NarrowFormat& format) {
  const auto shift = static_cast<unsigned>(23 - format.mantissa_bits);
  const double unit = std::ldexp(1, 1 - format.bias - format.mantissa_bits);
  Value* wide = b.CreateZExt(bits, shaped_like(bits, b.getInt32Ty()));
  auto word = [&](uint64_t value) { return int_like(wide, 32, value); };
  Value* magnitude = b.CreateAnd(wide, word(format.sign - 1));
  Value* sign =
      b.CreateShl(b.CreateAnd(wide, word(format.sign)), word(32 - std::bit_width(format.sign)));
  Value* normal = b.CreateAdd(b.CreateShl(magnitude, word(shift)),
                              word(static_cast<uint64_t>(127 - format.bias) << 23));
  Value* subnormal =
      as_int(b,
             b.CreateFMul(b.CreateUIToFP(magnitude, shaped_like(wide, b.getFloatTy())),
                          f32_like(wide, static_cast<float>(unit))),
             32);
  Value* least_normal = word(uint64_t{1} << format.mantissa_bits);
  Value* result = b.CreateSelect(b.CreateICmpULT(magnitude, least_normal), subnormal, normal);
  result =
      b.CreateSelect(b.CreateICmpUGT(magnitude, word(format.max_finite)), word(0x7fc00000), result);
  if (format.has_infinity)
    result =
        b.CreateSelect(b.CreateICmpEQ(magnitude, word(format.overflow)), word(0x7f800000), result);
  return as_f32(b, b.CreateOr(result, sign));
}

/// To f32, exactly. `from` is a narrow float.
Value* widen(Builder& b, Value* v, tn_dtype from) {
  if (from == TN_DTYPE_F16) return f16_to_f32(b, v);
  if (from == TN_DTYPE_F8E5M2) {
    Value* half = b.CreateZExt(v, shaped_like(v, b.getInt16Ty()));
    return f16_to_f32(b, b.CreateShl(half, int_like(v, 16, 8)));
  }
  if (from == TN_DTYPE_BF16) {
    Value* wide = b.CreateZExt(v, shaped_like(v, b.getInt32Ty()));
    return as_f32(b, b.CreateShl(wide, int_like(v, 32, 16)));
  }
  return fields_to_f32(b, v, sdk::dtype_info(static_cast<uint8_t>(from))->format);
}

/// f64 to f32 rounded to odd: inexact results get an odd last bit, so that a later rounding to
/// fewer than 23 bits is correct.
Value* round_to_odd(Builder& b, Value* v) {
  Value* nearest = b.CreateFPTrunc(v, shaped_like(v, b.getFloatTy()));
  Value* back = b.CreateFPExt(nearest, v->getType());
  Value* bits = as_int(b, nearest, 32);
  Value* inexact = b.CreateFCmpONE(back, v);
  Value* even = b.CreateICmpEQ(b.CreateAnd(bits, int_like(v, 32, 1)), int_like(v, 32, 0));
  Value* below = b.CreateFCmpOLT(b.CreateUnaryIntrinsic(ID(llvm::Intrinsic::fabs), back),
                                 b.CreateUnaryIntrinsic(ID(llvm::Intrinsic::fabs), v));
  Value* odd =
      b.CreateAdd(bits, b.CreateSelect(below, int_like(v, 32, 1), int_like(v, 32, 0xffffffff)));
  return as_f32(b, b.CreateSelect(b.CreateAnd(inexact, even), odd, bits));
}

Value* f32_to_bf16(Builder& b, Value* v) {
  // The bf16 instruction flushes subnormals, so it is not used.
  Value* bits = as_int(b, v, 32);
  Value* upper = b.CreateLShr(bits, int_like(v, 32, 16));
  Value* carry = b.CreateAdd(b.CreateAnd(upper, int_like(v, 32, 1)), int_like(v, 32, 0x7fff));
  Value* rounded = b.CreateLShr(b.CreateAdd(bits, carry), int_like(v, 32, 16));
  Value* quiet = b.CreateOr(upper, int_like(v, 32, 0x40));
  Value* result = b.CreateSelect(b.CreateFCmpUNO(v, v), quiet, rounded);
  return b.CreateTrunc(result, shaped_like(v, b.getInt16Ty()));
}

/// Narrows by bit fields to a format with fewer exponents than f32.
Value* f32_to_fields(Builder& b, Value* v, const sdk::NarrowFormat& format) {
  const auto f32_exponent = [](int e) { return static_cast<uint64_t>(127 + e) << 23; };
  // The smallest normal number, and a number whose last place is the smallest subnormal.
  const uint64_t minimum = f32_exponent(1 - format.bias);
  const auto magic_bits =
      static_cast<uint32_t>(f32_exponent(24 - format.bias - format.mantissa_bits));
  Value* bits = as_int(b, v, 32);
  auto word = [&](uint64_t value) { return int_like(v, 32, value); };
  const unsigned shift = 23 - static_cast<unsigned>(format.mantissa_bits);
  Value* magnitude = b.CreateAnd(bits, word(0x7fffffff));
  const auto width = static_cast<unsigned>(std::bit_width(format.sign));
  Value* sign = b.CreateAnd(b.CreateLShr(bits, word(32 - width)), word(format.sign));
  Value* rebased = b.CreateSub(
      magnitude, word(minimum - (uint64_t{1} << 23)));  // exponent 1 at the smallest normal
  Value* last = b.CreateAnd(b.CreateLShr(rebased, word(shift)), word(1));
  Value* normal = b.CreateLShr(
      b.CreateAdd(rebased, b.CreateAdd(last, word((uint64_t{1} << (shift - 1)) - 1))), word(shift));
  Value* magic = f32_like(v, std::bit_cast<float>(magic_bits));
  Value* subnormal =
      b.CreateSub(as_int(b, b.CreateFAdd(as_f32(b, magnitude), magic), 32), as_int(b, magic, 32));
  Value* result = b.CreateSelect(b.CreateICmpULT(magnitude, word(minimum)), subnormal, normal);
  result = b.CreateBinaryIntrinsic(ID(llvm::Intrinsic::umin), result, word(format.overflow));
  result =
      b.CreateSelect(b.CreateICmpUGT(magnitude, word(0x7f800000)), word(format.quiet_nan), result);
  return b.CreateTrunc(b.CreateOr(result, sign), shaped_like(v, b.getIntNTy(width)));
}

Value* narrow(Builder& b, Value* f32, tn_dtype to) {
  if (to == TN_DTYPE_BF16) return f32_to_bf16(b, f32);
  if (to == TN_DTYPE_F16)
    return as_int(b, b.CreateFPTrunc(f32, shaped_like(f32, b.getHalfTy())), 16);
  return f32_to_fields(b, f32, sdk::dtype_info(static_cast<uint8_t>(to))->format);
}

Value* int_to_float(Builder& b, Value* v, bool is_signed, llvm::Type* element) {
  llvm::Type* type = shaped_like(v, element);
  return is_signed ? b.CreateSIToFP(v, type) : b.CreateUIToFP(v, type);
}

/// An f32, exact or rounded to odd, that rounds to the same bf16 (or other float with its
/// exponents) as the integer.
Value* int_for_bf16(Builder& b, Value* v, bool is_signed, unsigned bits) {
  if (bits < 32) return int_to_float(b, v, is_signed, b.getFloatTy());
  if (bits == 32) return round_to_odd(b, int_to_float(b, v, is_signed, b.getDoubleTy()));
  // 64 bits do not fit an f64: fold the low 16 bits into a sticky bit if enough bits are above.
  Value* low = b.CreateAnd(v, int_like(v, 64, 0xffff));
  Value* sticky = b.CreateSelect(b.CreateICmpNE(low, int_like(v, 64, 0)), int_like(v, 64, 0x10000),
                                 int_like(v, 64, 0));
  Value* folded = b.CreateOr(b.CreateXor(v, low), sticky);
  Value* large = b.CreateICmpUGT(
      is_signed ? b.CreateBinaryIntrinsic(ID(llvm::Intrinsic::abs), v, b.getFalse()) : v,
      int_like(v, 64, uint64_t{1} << 32));
  Value* exact = b.CreateSelect(large, folded, v);
  return round_to_odd(b, int_to_float(b, exact, is_signed, b.getDoubleTy()));
}

/// An f32 that rounds to the same f16, fp8 or other float with few exponents: integers beyond 2^17
/// overflow.
Value* int_for_f16(Builder& b, Value* v, bool is_signed, unsigned bits) {
  if (bits >= 32) {
    v = b.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, v,
                                int_like(v, bits, 1 << 17));
    if (is_signed)
      v = b.CreateBinaryIntrinsic(ID(llvm::Intrinsic::smax), v,
                                  llvm::ConstantInt::getSigned(v->getType(), -(1 << 17)));
    if (bits == 64) v = b.CreateTrunc(v, shaped_like(v, b.getInt32Ty()));
    is_signed = true;
  }
  return int_to_float(b, v, is_signed, b.getFloatTy());
}

Value* from_int(Builder& b, Value* v, tn_dtype from, tn_dtype to, llvm::Type* type) {
  const bool is_signed = dtype_class(from) == DTypeClass::kSigned;
  const unsigned bits = dtype_bits(from);
  switch (dtype_class(to)) {
    case DTypeClass::kBool:
      return b.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
    case DTypeClass::kSigned:
    case DTypeClass::kUnsigned:
      return b.CreateIntCast(v, type, is_signed);
    case DTypeClass::kFloat:
      return int_to_float(b, v, is_signed, type->getScalarType());
    case DTypeClass::kNarrowFloat:
      break;
  }
  // Whether the exponents reach beyond 2^17.
  const bool is_far = sdk::dtype_info(static_cast<uint8_t>(to))->format.bias > 16;
  return narrow(
      b, is_far ? int_for_bf16(b, v, is_signed, bits) : int_for_f16(b, v, is_signed, bits), to);
}

Value* from_float(Builder& b, Value* v, tn_dtype to, llvm::Type* type) {
  const bool is_double = v->getType()->getScalarType()->isDoubleTy();
  switch (dtype_class(to)) {
    case DTypeClass::kBool:
      return b.CreateFCmpUNE(v, llvm::Constant::getNullValue(v->getType()));
    case DTypeClass::kSigned:
      return b.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {type, v->getType()}, {v});
    case DTypeClass::kUnsigned:
      return b.CreateIntrinsic(llvm::Intrinsic::fptoui_sat, {type, v->getType()}, {v});
    case DTypeClass::kFloat:
      return b.CreateFPCast(v, type);
    case DTypeClass::kNarrowFloat:
      break;
  }
  return narrow(b, is_double ? round_to_odd(b, v) : v, to);
}

}  // namespace

Value* emit_cast(Builder& b, Value* v, tn_dtype from, tn_dtype to) {
  if (from == to) return v;
  llvm::Type* type = value_type(b.getContext(), to, lanes_of(v));
  switch (dtype_class(from)) {
    case DTypeClass::kBool:
      if (dtype_class(to) == DTypeClass::kFloat) return b.CreateUIToFP(v, type);
      if (dtype_class(to) == DTypeClass::kNarrowFloat) {
        Value* one = narrow(b, f32_like(v, 1.0f), to);
        return b.CreateSelect(v, one, llvm::Constant::getNullValue(type));
      }
      return b.CreateZExt(v, type);
    case DTypeClass::kSigned:
    case DTypeClass::kUnsigned:
      return from_int(b, v, from, to, type);
    case DTypeClass::kFloat:
      return from_float(b, v, to, type);
    case DTypeClass::kNarrowFloat:
      break;
  }
  return from_float(b, widen(b, v, from), to, type);
}

Value* emit_bit_cast(Builder& b, Value* v, tn_dtype from, tn_dtype to) {
  if (from == to) return v;
  if (from == TN_DTYPE_BOOL) v = b.CreateZExt(v, shaped_like(v, b.getInt8Ty()));
  if (to == TN_DTYPE_BOOL) return b.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
  return b.CreateBitCast(v, value_type(b.getContext(), to, lanes_of(v)));
}

}  // namespace tenon::cpu
