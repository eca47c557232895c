// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/emit_dot.hpp"
#include "plugins/cpu/older_llvm.hpp"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace tenon::cpu {
namespace {

using llvm::Value;
using Lanes = llvm::SmallVector<int>;

llvm::Intrinsic::ID instruction(bool is_float, unsigned lanes) {
  using namespace llvm::Intrinsic;
  if (lanes == 16) return is_float ? x86_avx512bf16_dpbf16ps_512 : x86_avx512_vpdpbusd_512;
  if (lanes == 8) return is_float ? x86_avx512bf16_dpbf16ps_256 : x86_avx512_vpdpbusd_256;
  return is_float ? x86_avx512bf16_dpbf16ps_128 : x86_avx512_vpdpbusd_128;
}

/// The neighbours of each lane as 32-bit words. Neighbours used for all lanes are broadcast.
Value* words(Builder& b, Value* factor, unsigned lanes) {
  const unsigned bits = factor->getType()->getPrimitiveSizeInBits();
  // Flip one word before the broadcast, which costs no vector instruction.
  auto* flipped = llvm::dyn_cast<llvm::BinaryOperator>(factor);
  if (bits == 32 && flipped && flipped->getOpcode() == llvm::Instruction::Xor) {
    Value* word = b.CreateXor(b.CreateBitCast(flipped->getOperand(0), b.getInt32Ty()),
                              b.CreateBitCast(flipped->getOperand(1), b.getInt32Ty()));
    return b.CreateVectorSplat(lanes, word);
  }
  Value* words =
      b.CreateBitCast(factor, bits == 32 ? static_cast<llvm::Type*>(b.getInt32Ty())
                                         : llvm::FixedVectorType::get(b.getInt32Ty(), bits / 32));
  return bits == 32 ? b.CreateVectorSplat(lanes, words) : words;
}

/// `count` lanes from `first` on. Lanes beyond the vector are poison.
Value* part(Builder& b, Value* vector, unsigned first, unsigned count) {
  const unsigned lanes = lanes_of(vector);
  if (first == 0 && count == lanes) return vector;
  Lanes picks(count, kAnyLane);
  for (unsigned l = 0; l < count && first + l < lanes; ++l) picks[l] = static_cast<int>(first + l);
  return b.CreateShuffleVector(vector, picks);
}

Value* both(Builder& b, Value* low, Value* high) {
  Lanes picks(lanes_of(low) + lanes_of(high));
  std::iota(picks.begin(), picks.end(), 0);
  const unsigned most = std::max(lanes_of(low), lanes_of(high));
  for (int& pick : picks)
    if (pick >= static_cast<int>(lanes_of(low))) pick += static_cast<int>(most - lanes_of(low));
  return b.CreateShuffleVector(part(b, low, 0, most), part(b, high, 0, most), picks);
}

}  // namespace

Value* emit_dot(Builder& b, tn_dtype sum, const std::array<Value*, 3>& operands, unsigned lanes) {
  const bool is_float = sum == TN_DTYPE_F32;
  const unsigned all = lanes_of(operands[2]);
  // The second factor can be a broadcast memory operand. Float factors can be swapped.
  const bool serves_all = lanes_of(operands[0]) < lanes_of(operands[1]);
  Value* x = words(b, operands[is_float && serves_all ? 1 : 0], all);
  Value* y = words(b, operands[is_float && serves_all ? 0 : 1], all);
  Value* z = operands[2];
  if (all == 1)
    z = b.CreateInsertElement(llvm::PoisonValue::get(llvm::FixedVectorType::get(z->getType(), 1)),
                              z, uint64_t{0});
  Value* result = nullptr;
  for (unsigned first = 0; first < all; first += lanes) {
    const unsigned count = std::min(lanes, all - first);
    const unsigned width = std::max(4U, std::bit_ceil(count));
    std::array<Value*, 3> taken{part(b, z, first, width), part(b, x, first, width),
                                part(b, y, first, width)};
    if (is_float)
      for (size_t k : {1U, 2U})
        taken[k] = b.CreateBitCast(
            taken[k],
            llvm::FixedVectorType::get(llvm::Type::getBFloatTy(b.getContext()), 2 * width));
    Value* made = b.CreateIntrinsic(instruction(is_float, width), {}, taken);
    made = part(b, made, 0, count);
    result = result ? both(b, result, made) : made;
  }
  return all == 1 ? b.CreateExtractElement(result, uint64_t{0}) : result;
}

}  // namespace tenon::cpu
