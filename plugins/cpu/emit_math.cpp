// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exponentials, logarithms, sine and cosine. Coefficients: minimax in relative error (Remez).
#include "plugins/cpu/emit_math.hpp"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <limits>
#include <span>
#include <stdexcept>
#include <string>

#include "plugins/cpu/emit_avx512.hpp"

namespace tenon::cpu {
namespace {

using llvm::Value;

Value* fma(Builder& b, Value* x, Value* y, Value* z) {
  return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
}
/// x * y + z with a constant z
Value* fma(Builder& b, Value* x, Value* y, float z) { return fma(b, x, y, f32_like(x, z)); }
Value* fma(Builder& b, Value* x, float y, float z) { return fma(b, x, f32_like(x, y), z); }

Value* as_i32(Builder& b, Value* v) { return b.CreateBitCast(v, shaped_like(v, b.getInt32Ty())); }

/// Evaluates a polynomial. Lowest coefficient first.
Value* polynomial(Builder& b, Value* x, std::span<const float> coefficients) {
  Value* sum = f32_like(x, coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) sum = fma(b, sum, x, coefficients[i]);
  return sum;
}

struct Rounded {
  Value *number, *bits;  ///< the low 22 bits of `bits` are those of number + bias
};

/// x * factor to nearest even, for results below 2^21, by adding and subtracting 1.5 * 2^23 and an
/// even bias: no poison for NaN.
Rounded round_to_int(Builder& b, Value* x, float factor, float bias) {
  const float magic = 0x1.8p23f + bias;
  Value* shifted = fma(b, x, factor, magic);
  return {b.CreateFSub(shifted, f32_like(x, magic)), as_i32(b, shifted)};
}

/// Clamps, and keeps NaN.
Value* clamp(Builder& b, Value* x, float low, float high) {
  Value* below = f32_like(x, low);
  Value* above = f32_like(x, high);
  x = b.CreateSelect(b.CreateFCmpOLT(x, below), below, x);
  return b.CreateSelect(b.CreateFCmpOGT(x, above), above, x);
}

constexpr float kTwoBiases = 254;  ///< of exponents

/// (1 + r q) * 2^n for n in [-254, 200]; `bits` of n have two biases. Scales by two factors of half
/// of n each, so that it rounds once after the sum and subnormal results are right. For the least n
/// both factors are 0, as an underflow is very slow on some processors; arguments far below zero
/// use it.
Value* scaled(Builder& b, Value* r, Value* q, const Rounded& n) {
  if (b.avx512) return emit_scale(b, fma(b, q, r, f32_like(r, 1.0f)), n.number);
  Value* half = b.CreateAnd(b.CreateShl(n.bits, int_like(r, 32, 22)), int_like(r, 32, 0xff << 23));
  Value* rest = as_f32(b, b.CreateSub(b.CreateShl(n.bits, int_like(r, 32, 23)), half));
  return b.CreateFMul(fma(b, q, b.CreateFMul(r, rest), rest), as_f32(b, half));
}

Value* exp2_f32(Builder& b, Value* x) {
  static constexpr float kQ[] = {0.693147242f,   0.240226507f,   0.0555029735f,
                                 0.00961803086f, 0.00134100008f, 0.000154697322f};
  x = clamp(b, x, -254.0f, 129.0f);
  const Rounded n = round_to_int(b, x, 1.0f, kTwoBiases);
  Value* r = b.CreateFSub(x, n.number);
  return scaled(b, r, polynomial(b, r, kQ), n);
}

Value* exp_f32(Builder& b, Value* x) {
  static constexpr float kQ[] = {1.0f,          0.49999994f,    0.166665196f,
                                 0.0416683964f, 0.00836879667f, 0.00138144335f};
  x = clamp(b, x, -176.0f, 89.0f);
  const Rounded n = round_to_int(b, x, 0x1.715476p+0f, kTwoBiases);
  Value* r = fma(b, n.number, f32_like(x, -0x1.62e43p-1f), x);
  r = fma(b, n.number, f32_like(x, 0x1.05c61p-29f), r);
  return scaled(b, r, polynomial(b, r, kQ), n);
}

/// log2 or ln: x = 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt(2)).
Value* log_f32(Builder& b, Value* x, bool base2) {
  static constexpr float kLog2[] = {1.44269502f,  -0.721347332f, 0.480898231f, -0.360696644f,
                                    0.288567394f, -0.239617407f, 0.204600617f, -0.191062748f,
                                    0.186174944f, -0.109949537f};
  static constexpr float kLn[] = {-0.499999881f, 0.333333254f,  -0.250015825f,
                                  0.200019732f,  -0.166090831f, 0.141818255f,
                                  -0.132429883f, 0.129044324f,  -0.076217778f};
  const float infinity = std::numeric_limits<float>::infinity();
  Value* small = b.CreateFCmpOLT(x, f32_like(x, 0x1p-126f));
  Value* bits = as_i32(b, b.CreateSelect(small, b.CreateFMul(x, f32_like(x, 0x1p23f)), x));
  Value* exponent =
      b.CreateAShr(b.CreateSub(bits, int_like(x, 32, 0x3f3504f3)), int_like(x, 32, 23));
  Value* f = b.CreateFSub(as_f32(b, b.CreateSub(bits, b.CreateShl(exponent, int_like(x, 32, 23)))),
                          f32_like(x, 1.0f));
  Value* e = b.CreateFAdd(b.CreateSIToFP(exponent, x->getType()),
                          b.CreateSelect(small, f32_like(x, -23.0f), f32_like(x, 0.0f)));
  Value* result;
  if (base2) {
    result = fma(b, f, polynomial(b, f, kLog2), e);
  } else {
    // e * ln2 in two parts, the larger one added last.
    Value* p = fma(b, polynomial(b, f, kLn), b.CreateFMul(f, f),
                   b.CreateFMul(e, f32_like(x, -0x1.05c61p-29f)));
    result = fma(b, e, f32_like(x, 0x1.62e43p-1f), b.CreateFAdd(p, f));
  }
  Value* positive = b.CreateFCmpOGT(x, f32_like(x, 0.0f));
  Value* finite = b.CreateFCmpOLT(x, f32_like(x, infinity));
  Value* zero = b.CreateFCmpOEQ(x, f32_like(x, 0.0f));
  Value* special = b.CreateSelect(
      zero, f32_like(x, -infinity),
      b.CreateSelect(positive, x, f32_like(x, std::numeric_limits<float>::quiet_NaN())));
  return b.CreateSelect(b.CreateAnd(positive, finite), result, special);
}

/// For |x| <= kSinRange, reduction by three parts of pi/2 with fma: k is small enough for exact
/// products.
constexpr float kSinRange = 32768.0f;

Value* sin_in_range(Builder& b, Value* x, bool cosine) {
  static constexpr float kSin[] = {-0.166666552f, 0.00833215751f, -0.000195148881f};
  static constexpr float kCos[] = {0.0416666456f, -0.00138873095f, 2.44324019e-05f};
  const Rounded k = round_to_int(b, x, 0x1.45f306p-1f, 0);
  Value* r = fma(b, k.number, f32_like(x, -0x1.921fb6p+0f), x);
  r = fma(b, k.number, f32_like(x, 0x1.777a5cp-25f), r);
  r = fma(b, k.number, f32_like(x, 0x1.ee59dap-50f), r);
  Value* u = b.CreateFMul(r, r);
  Value* sine = fma(b, polynomial(b, u, kSin), b.CreateFMul(u, r), r);
  // Sums of zeros lose the sign of -0. Only x = 0 reduces to 0.
  sine = b.CreateSelect(b.CreateFCmpOEQ(u, f32_like(x, 0.0f)), x, sine);
  Value* other =
      fma(b, polynomial(b, u, kCos), b.CreateFMul(u, u), fma(b, u, f32_like(x, -0.5f), 1.0f));
  Value* quadrant = cosine ? b.CreateAdd(k.bits, int_like(x, 32, 1)) : k.bits;
  Value* odd = b.CreateICmpNE(b.CreateAnd(quadrant, int_like(x, 32, 1)), int_like(x, 32, 0));
  Value* sign = b.CreateShl(b.CreateAnd(quadrant, int_like(x, 32, 2)), int_like(x, 32, 30));
  return as_f32(b, b.CreateXor(as_i32(b, b.CreateSelect(odd, other, sine)), sign));
}

llvm::FunctionCallee host_function(Builder& b, const std::string& name, llvm::FunctionType* type) {
  llvm::FunctionCallee callee = b.GetInsertBlock()->getModule()->getOrInsertFunction(name, type);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  return callee;
}

/// Calls a function of the host: a scalar by value, a vector in memory.
Value* call_host(Builder& b, const std::string& name, Value* x) {
  llvm::Type* element = x->getType()->getScalarType();
  if (lanes_of(x) == 1)
    return b.CreateCall(host_function(b, name, llvm::FunctionType::get(element, {element}, false)),
                        {x});
  Value* slot = entry_alloca(b, x->getType(), 64);
  b.CreateAlignedStore(x, slot, llvm::Align(64));
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty()}, false);
  b.CreateCall(host_function(b, name + "_many", type), {slot, b.getInt64(lanes_of(x))});
  return b.CreateAlignedLoad(x->getType(), slot, llvm::Align(64));
}

Value* sin_f32(Builder& b, Value* x, bool cosine) {
  Value* fast = sin_in_range(b, x, cosine);
  Value* is_far =
      b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::ID(llvm::Intrinsic::fabs), x),
                      f32_like(x, kSinRange));
  Value* far = lanes_of(x) > 1 ? b.CreateOrReduce(is_far) : is_far;
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::Function* function = before->getParent();
  auto* slow_block = llvm::BasicBlock::Create(b.getContext(), "far", function);
  auto* after = llvm::BasicBlock::Create(b.getContext(), "near", function);
  b.CreateCondBr(far, slow_block, after,
                 llvm::MDBuilder(b.getContext()).createBranchWeights(1, 1000));
  b.SetInsertPoint(slow_block);
  Value* slow = call_host(b, cosine ? "tenon_cpu_cos_f32" : "tenon_cpu_sin_f32", x);
  slow = b.CreateSelect(is_far, slow,
                        fast);  // choose for each lane, so that no lane depends on others
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode* result = b.CreatePHI(x->getType(), 2);
  result->addIncoming(fast, before);
  result->addIncoming(slow, slow_block);
  return result;
}

[[noreturn]] void not_transcendental(tn_opcode op) {
  throw std::invalid_argument("[cpu] expected a transcendental op, got op " +
                              std::to_string(static_cast<unsigned>(op)));
}

const char* host_name(tn_opcode op) {
  if (op == TN_OP_EXP2) return "tenon_cpu_exp2_f64";
  if (op == TN_OP_EXP) return "tenon_cpu_exp_f64";
  if (op == TN_OP_LOG2) return "tenon_cpu_log2_f64";
  if (op == TN_OP_LN) return "tenon_cpu_ln_f64";
  if (op == TN_OP_SIN) return "tenon_cpu_sin_f64";
  if (op == TN_OP_COS) return "tenon_cpu_cos_f64";
  not_transcendental(op);
}

}  // namespace

Value* emit_transcendental(Builder& b, tn_opcode op, Value* x) {
  if (x->getType()->getScalarType()->isDoubleTy()) return call_host(b, host_name(op), x);
  if (op == TN_OP_EXP2) return exp2_f32(b, x);
  if (op == TN_OP_EXP) return exp_f32(b, x);
  if (op == TN_OP_LOG2 || op == TN_OP_LN) return log_f32(b, x, op == TN_OP_LOG2);
  if (op == TN_OP_SIN || op == TN_OP_COS) return sin_f32(b, x, op == TN_OP_COS);
  not_transcendental(op);
}

Value* entry_alloca(Builder& b, llvm::Type* type, uint64_t alignment) {
  llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  Builder at(&entry, entry.begin());
  llvm::AllocaInst* slot = at.CreateAlloca(type);
  slot->setAlignment(llvm::Align(alignment));
  return slot;
}

}  // namespace tenon::cpu
