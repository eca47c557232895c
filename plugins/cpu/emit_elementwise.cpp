// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/emit_elementwise.hpp"

#include <llvm/IR/Intrinsics.h>

#include <numeric>
#include <stdexcept>
#include <string>

#include "plugins/cpu/emit_avx512.hpp"
#include "plugins/cpu/emit_math.hpp"
#include "sdk/program/op_groups.hpp"
#include "sdk/program/view.hpp"

namespace tenon::cpu {
namespace {

using llvm::Value;
using IntrinsicId = llvm::Intrinsic::ID;

/// x / y of integer vectors, y not 0, by float division, as there is no instruction. A quotient of
/// f32 or f64 never rounds up to the next integer if the operands have at most 16 or 32 bits.
Value* vector_quotient(Builder& b, Value* x, Value* y, bool is_signed, unsigned bits) {
  llvm::Type* type = shaped_like(x, bits <= 16 ? b.getFloatTy() : b.getDoubleTy());
  if (is_signed)
    return b.CreateFPToSI(b.CreateFDiv(b.CreateSIToFP(x, type), b.CreateSIToFP(y, type)),
                          x->getType());
  return b.CreateFPToUI(b.CreateFDiv(b.CreateUIToFP(x, type), b.CreateUIToFP(y, type)),
                        x->getType());
}

Value* emit_division(Builder& b, tn_opcode op, tn_dtype dtype, Value* x, Value* y);

/// Divides 64-bit vectors lane by lane, as there is no instruction. LLVM 19.1 would scalarise too,
/// but before that it miscompiles a divisor with a 0 in one lane, ignoring the select that replaces
/// it.
Value* divide_lanes(Builder& b, tn_opcode op, tn_dtype dtype, Value* x, Value* y) {
  Value* out = llvm::PoisonValue::get(x->getType());
  for (unsigned lane = 0; lane < lanes_of(x); ++lane)
    out = b.CreateInsertElement(out,
                                emit_division(b, op, dtype, b.CreateExtractElement(x, lane),
                                              b.CreateExtractElement(y, lane)),
                                lane);
  return out;
}

Value* emit_division(Builder& b, tn_opcode op, tn_dtype dtype, Value* x, Value* y) {
  const bool is_signed = dtype_class(dtype) == DTypeClass::kSigned;
  const unsigned bits = dtype_bits(dtype);
  if (lanes_of(x) > 1 && bits > 32 && !llvm::isa<llvm::Constant>(y))
    return divide_lanes(b, op, dtype, x, y);
  Value* one = llvm::ConstantInt::get(x->getType(), 1);
  Value* nothing = llvm::Constant::getNullValue(x->getType());
  Value* is_zero = b.CreateICmpEQ(y, nothing);
  Value* is_minus_one =
      is_signed ? b.CreateICmpEQ(y, llvm::Constant::getAllOnesValue(x->getType())) : nullptr;
  // Replace the two divisors that trap by 1.
  Value* safe = b.CreateSelect(is_signed ? b.CreateOr(is_zero, is_minus_one) : is_zero, one, y);
  const bool by_float = lanes_of(x) > 1 && bits <= 32 && !llvm::isa<llvm::Constant>(y);
  if (op == TN_OP_MOD) {
    Value* rest =
        by_float ? b.CreateSub(x, b.CreateMul(vector_quotient(b, x, safe, is_signed, bits), safe))
        : is_signed ? b.CreateSRem(x, safe)
                    : b.CreateURem(x, safe);
    return b.CreateSelect(is_zero, x, rest);
  }
  Value* quotient = by_float    ? vector_quotient(b, x, safe, is_signed, bits)
                    : is_signed ? b.CreateSDiv(x, safe)
                                : b.CreateUDiv(x, safe);
  if (is_signed) quotient = b.CreateSelect(is_minus_one, b.CreateNeg(x), quotient);
  return b.CreateSelect(is_zero, nothing, quotient);
}

Value* emit_shift(Builder& b, tn_opcode op, tn_dtype dtype, Value* x, Value* y) {
  const unsigned bits = dtype_bits(dtype);
  Value* nothing = llvm::Constant::getNullValue(x->getType());
  if (op == TN_OP_SHR && dtype_class(dtype) == DTypeClass::kSigned) {
    // As unsigned, a negative count is huge.
    Value* count = b.CreateBinaryIntrinsic(IntrinsicId(llvm::Intrinsic::umin), y,
                                           llvm::ConstantInt::get(x->getType(), bits - 1));
    return b.CreateAShr(x, count);
  }
  Value* inside = b.CreateICmpULT(y, llvm::ConstantInt::get(x->getType(), bits));
  return b.CreateSelect(inside, op == TN_OP_SHL ? b.CreateShl(x, y) : b.CreateLShr(x, y), nothing);
}

/// An arithmetic fence: if LLVM 19 knows that one operand of a scalar max is not NaN, its x86 code
/// is wrong for a signalling NaN in the other.
Value* opaque(Builder& b, Value* v) {
  return llvm::isa<llvm::Constant>(v) ? v : b.CreateArithmeticFence(v, v->getType());
}

/// The number in all lanes of a constant; null if lanes differ or it is NaN.
const llvm::ConstantFP* one_number(const Value* v) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(v);
  if (constant && v->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number && !number->isNaN() ? number : nullptr;
}

/// A compare and a select, which is one x86 instruction. If x and the limit are zeros of different
/// sign, the limit wins if +0 > -0 makes it the extreme.
Value* emit_limit(Builder& b, bool is_max, Value* x, Value* limit, const llvm::ConstantFP& number) {
  const bool at_zero = number.isZero() && number.isNegative() != is_max;
  Value* beyond = is_max    ? at_zero ? b.CreateFCmpOLE(x, limit) : b.CreateFCmpOLT(x, limit)
                     : at_zero ? b.CreateFCmpOGE(x, limit)
                            : b.CreateFCmpOGT(x, limit);
  return b.CreateSelect(beyond, limit, x);
}

/// By the x86 instruction, which returns y if neither is larger or smaller. It runs in both operand
/// orders, whose results differ only for zeros of different sign. NaN lanes get all bits set.
Value* emit_extreme_in_orders(Builder& b, bool is_max, Value* x, Value* y) {
  llvm::Type* bits = shaped_like(x, b.getIntNTy(x->getType()->getScalarSizeInBits()));
  const auto in_order = [&](Value* u, Value* v) {
    Value* beyond = is_max ? b.CreateFCmpOGT(u, v) : b.CreateFCmpOLT(u, v);
    return b.CreateBitCast(b.CreateSelect(beyond, u, v), bits);
  };
  Value *one = in_order(x, y), *other = in_order(y, x);
  Value* number = is_max ? b.CreateAnd(one, other) : b.CreateOr(one, other);
  Value* nan = b.CreateSExt(b.CreateFCmpUNO(x, y), bits);
  return b.CreateBitCast(b.CreateOr(number, nan), x->getType());
}

/// MAX or MIN that is NaN if either operand is.
Value* emit_extreme(Builder& b, bool is_max, Value* x, Value* y) {
  if (const llvm::ConstantFP* number = one_number(y)) return emit_limit(b, is_max, x, y, *number);
  if (const llvm::ConstantFP* number = one_number(x)) return emit_limit(b, is_max, y, x, *number);
  if (b.avx512)
    return b.CreateSelect(b.CreateFCmpUNO(x, y), b.CreateFAdd(x, y),
                          emit_extreme_number(b, is_max, x, y));
  if (b.x86) return emit_extreme_in_orders(b, is_max, x, y);
  x = opaque(b, x);
  y = opaque(b, y);
  return is_max ? b.CreateMaximum(x, y) : b.CreateMinimum(x, y);
}

Value* emit_float(Builder& b, tn_opcode op, std::span<Value* const> v) {
  auto unary = [&](llvm::Intrinsic::IndependentIntrinsics id) {
    return b.CreateUnaryIntrinsic(IntrinsicId(id), v[0]);
  };
  switch (static_cast<unsigned>(op)) {
    case TN_OP_RECIP:
      return b.CreateFDiv(llvm::ConstantFP::get(v[0]->getType(), 1.0), v[0]);
    case TN_OP_SQRT:
      return unary(llvm::Intrinsic::sqrt);
    case TN_OP_EXP2:
    case TN_OP_LOG2:
    case TN_OP_SIN:
    case TN_OP_EXP:
    case TN_OP_LN:
    case TN_OP_COS:
      return emit_transcendental(b, op, v[0]);
    case TN_OP_ADD:
      return b.CreateFAdd(v[0], v[1]);
    case TN_OP_MUL:
      return b.CreateFMul(v[0], v[1]);
    case TN_OP_MAX:
    case TN_OP_MIN:
      return emit_extreme(b, op == TN_OP_MAX, v[0], v[1]);
    case TN_OP_CMPLT:
      return b.CreateFCmpOLT(v[0], v[1]);
    case TN_OP_CMPNE:
      return b.CreateFCmpUNE(v[0], v[1]);
    case TN_OP_CMPEQ:
      return b.CreateFCmpOEQ(v[0], v[1]);
    case TN_OP_NEG:
      return b.CreateFNeg(v[0]);
    case TN_OP_SUB:
      return b.CreateFSub(v[0], v[1]);
    case TN_OP_FDIV:
      return b.CreateFDiv(v[0], v[1]);
    case TN_OP_TRUNC:
      return unary(llvm::Intrinsic::trunc);
    case TN_OP_FLOOR:
      return unary(llvm::Intrinsic::floor);
    case TN_OP_FMA:
      return b.CreateIntrinsic(llvm::Intrinsic::fma, {v[0]->getType()}, {v[0], v[1], v[2]});
    default:
      return nullptr;
  }
}

Value* emit_int(Builder& b, tn_opcode op, tn_dtype dtype, std::span<Value* const> v, bool no_wrap) {
  const bool is_signed = dtype_class(dtype) == DTypeClass::kSigned;
  const bool nsw = no_wrap && is_signed, nuw = no_wrap && !is_signed;
  auto binary = [&](llvm::Intrinsic::IndependentIntrinsics id) {
    return b.CreateBinaryIntrinsic(IntrinsicId(id), v[0], v[1]);
  };
  switch (static_cast<unsigned>(op)) {
    case TN_OP_ADD:
      return b.CreateAdd(v[0], v[1], "", nuw, nsw);
    case TN_OP_SUB:
      return b.CreateSub(v[0], v[1], "", nuw, nsw);
    case TN_OP_MUL:
      return b.CreateMul(v[0], v[1], "", nuw, nsw);
    case TN_OP_NEG:
      return b.CreateNeg(v[0]);
    case TN_OP_IDIV:
    case TN_OP_MOD:
      return emit_division(b, op, dtype, v[0], v[1]);
    case TN_OP_SHL:
    case TN_OP_SHR:
      return emit_shift(b, op, dtype, v[0], v[1]);
    case TN_OP_MAX:
      return is_signed ? binary(llvm::Intrinsic::smax) : binary(llvm::Intrinsic::umax);
    case TN_OP_MIN:
      return is_signed ? binary(llvm::Intrinsic::smin) : binary(llvm::Intrinsic::umin);
    case TN_OP_AND:
      return b.CreateAnd(v[0], v[1]);
    case TN_OP_OR:
      return b.CreateOr(v[0], v[1]);
    case TN_OP_XOR:
      return b.CreateXor(v[0], v[1]);
    case TN_OP_CMPLT:
      return is_signed ? b.CreateICmpSLT(v[0], v[1]) : b.CreateICmpULT(v[0], v[1]);
    case TN_OP_CMPNE:
      return b.CreateICmpNE(v[0], v[1]);
    case TN_OP_CMPEQ:
      return b.CreateICmpEQ(v[0], v[1]);
    default:
      return nullptr;
  }
}

Value* emit_bool(Builder& b, tn_opcode op, std::span<Value* const> v) {
  switch (static_cast<unsigned>(op)) {
    case TN_OP_ADD:
    case TN_OP_MAX:
    case TN_OP_OR:
      return b.CreateOr(v[0], v[1]);
    case TN_OP_MUL:
    case TN_OP_MIN:
    case TN_OP_AND:
      return b.CreateAnd(v[0], v[1]);
    case TN_OP_XOR:
    case TN_OP_CMPNE:
      return b.CreateXor(v[0], v[1]);
    case TN_OP_CMPEQ:
      return b.CreateNot(b.CreateXor(v[0], v[1]));
    case TN_OP_CMPLT:
      return b.CreateAnd(b.CreateNot(v[0]), v[1]);
    default:
      return nullptr;
  }
}

constexpr auto kEmitted = sdk::concat(sdk::kArithmeticOps, sdk::kMathOps);

}  // namespace

std::span<const tn_opcode> emitted_ops() { return kEmitted; }

Value* emit_elementwise(Builder& b, tn_opcode op, tn_dtype dtype, std::span<Value* const> operands,
                        bool no_wrap) {
  if (op == TN_OP_WHERE) return b.CreateSelect(operands[0], operands[1], operands[2]);
  Value* result = nullptr;
  switch (dtype_class(dtype)) {
    case DTypeClass::kBool:
      result = emit_bool(b, op, operands);
      break;
    case DTypeClass::kSigned:
    case DTypeClass::kUnsigned:
      result = emit_int(b, op, dtype, operands, no_wrap);
      break;
    case DTypeClass::kFloat:
      result = emit_float(b, op, operands);
      break;
    case DTypeClass::kNarrowFloat:
      break;
  }
  if (!result)
    throw std::invalid_argument(std::string("[cpu] expected an op that takes ") +
                                std::string(sdk::dtype_text(static_cast<uint8_t>(dtype))) +
                                ", got " + std::string(sdk::op_text(static_cast<uint16_t>(op))));
  return result;
}

Value* emit_lane_reduce(Builder& b, tn_opcode op, tn_dtype dtype, Value* vector) {
  unsigned lanes = lanes_of(vector);
  Value* odd_ones = nullptr;  // lanes without a partner
  auto combine = [&](Value* x, Value* y) {
    Value* const pair[] = {x, y};
    return emit_elementwise(b, op, dtype, pair);
  };
  while (lanes > 1) {
    if (lanes % 2 == 1) {
      Value* last = b.CreateExtractElement(vector, lanes - 1);
      odd_ones = odd_ones ? combine(odd_ones, last) : last;
    }
    const unsigned half = lanes / 2;
    llvm::SmallVector<int> low(half), high(half);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), static_cast<int>(half));
    vector = combine(b.CreateShuffleVector(vector, low), b.CreateShuffleVector(vector, high));
    lanes = half;
  }
  Value* result =
      vector->getType()->isVectorTy() ? b.CreateExtractElement(vector, uint64_t{0}) : vector;
  return odd_ones ? combine(result, odd_ones) : result;
}

}  // namespace tenon::cpu
