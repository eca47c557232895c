// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LOOP, CARRY, IF, ELSE and END. Carried values are phis of the loop header. A loop that is known
// to run is tested in its latch, as loop rotation would do; others in their header, while loops in
// both.
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

#include "plugins/cpu/emitter.hpp"
#include "plugins/cpu/older_llvm.hpp"

namespace tenon::cpu {

using llvm::Value;

/// The induction value at the end of a loop with constant bounds. Null if bounds vary, if the loop
/// does not run, or if the value would wrap.
static Value* value_at_end(const Value* begin, const Value* end, const Value* step) {
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
  const auto* bound = llvm::dyn_cast<llvm::ConstantInt>(end);
  const auto* by = llvm::dyn_cast<llvm::ConstantInt>(step);
  if (!first || !bound || !by || !by->getValue().isStrictlyPositive() ||
      !first->getValue().slt(bound->getValue()))
    return nullptr;
  bool overflow = false;
  const llvm::APInt range = bound->getValue().ssub_ov(first->getValue(), overflow);
  if (overflow) return nullptr;
  const llvm::APInt count =
      llvm::APIntOps::RoundingSDiv(range, by->getValue(), llvm::APInt::Rounding::UP);
  const llvm::APInt covered = count.smul_ov(by->getValue(), overflow);
  if (overflow) return nullptr;
  const llvm::APInt last = first->getValue().sadd_ov(covered, overflow);
  return overflow ? nullptr : llvm::ConstantInt::get(first->getContext(), last);
}

void Emitter::begin_loop(uint32_t i, const tn_op& op) {
  const auto operands = program_.operands(op);
  Region region;
  region.is_loop = true;
  region.op = &op;
  region.value = i;
  const bool is_wide = op.dtype == TN_DTYPE_I32;
  Value* bounds[3];
  for (size_t k = 0; k < 3; ++k) bounds[k] = is_wide ? widened(operands[k]) : values_[operands[k]];
  region.end = bounds[1];
  region.step = bounds[2];
  region.header = block("loop");
  region.after = block("after");
  if (!(op.flags & TN_OP_WHILE))
    region.value_at_end = value_at_end(bounds[0], bounds[1], bounds[2]);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  builder_.CreateBr(region.header);
  builder_.SetInsertPoint(region.header);
  region.induction = builder_.CreatePHI(bounds[0]->getType(), 2);
  region.induction->addIncoming(bounds[0], before);
  for (size_t c = 3; c < operands.size(); ++c) {
    Value* initial = values_[operands[c]];
    llvm::PHINode* carry = builder_.CreatePHI(initial->getType(), 2);
    carry->addIncoming(initial, before);
    region.carries.push_back({carry});
    if (extremes_[i + c - 2] == kNone) continue;
    builder_.SetInsertPoint(before->getTerminator());
    Value* nan = builder_.CreateFCmpUNO(initial, initial);
    builder_.SetInsertPoint(region.header);
    region.carries.back().nan = builder_.CreatePHI(nan->getType(), 2);
    region.carries.back().nan->addIncoming(nan, before);
  }
  if (!region.value_at_end) {
    llvm::BasicBlock* body = block("body");
    builder_.CreateCondBr(builder_.CreateICmpSLT(region.induction, region.end), body, region.after);
    builder_.SetInsertPoint(body);
  }
  values_[i] = region.induction;
  if (is_wide) {
    wide_[i] = region.induction;
    values_[i] = narrowed(builder_, region.induction, builder_.getInt32Ty(), false);
  }
  regions_.push_back(std::move(region));
}

/// Whether the next induction value cannot wrap: a step of one stays at or below the end, and a
/// constant step fits beyond a constant end.
static bool step_fits(const Value* end, const Value* step) {
  const auto* fixed_step = llvm::dyn_cast<llvm::ConstantInt>(step);
  if (!fixed_step) return false;
  if (fixed_step->isOne()) return true;
  const auto* fixed_end = llvm::dyn_cast<llvm::ConstantInt>(end);
  if (!fixed_end) return false;
  bool overflow = false;
  (void)fixed_end->getValue().sadd_ov(fixed_step->getValue(), overflow);
  return !overflow;
}

void Emitter::end_loop(const tn_op& end, Region& region) {
  const auto next = program_.operands(end);
  const size_t carried = region.carries.size();
  Value* induction = builder_.CreateAdd(region.induction, region.step, "", false,
                                        step_fits(region.end, region.step));
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  region.induction->addIncoming(induction, latch);
  // Read next values before values_ gets the carries after the loop, as a next value may be a
  // carry.
  std::vector<Value*> last;
  for (size_t c = 0; c < carried; ++c) last.push_back(values_[next[c]]);
  for (size_t c = 0; c < carried; ++c) {
    const Carry& carry = region.carries[c];
    carry.value->addIncoming(last[c], latch);
    if (carry.nan) carry.nan->addIncoming(carry.next_nan, latch);
  }
  const bool is_while = region.op->flags & TN_OP_WHILE;
  Value* goes_on = nullptr;
  if (is_while) goes_on = values_[next[carried]];
  // Compare for equality, so that the optimiser can use another induction variable.
  if (region.value_at_end) goes_on = builder_.CreateICmpNE(induction, region.value_at_end);
  llvm::Instruction* back = goes_on ? builder_.CreateCondBr(goes_on, region.header, region.after)
                                    : builder_.CreateBr(region.header);
  // Unroll only if the program asks, as kernels are already tiled.
  const bool unroll = region.op->flags & TN_OP_UNROLL;
  wants_unroll_ |= unroll;
  llvm::Metadata* advice = llvm::MDNode::get(
      context_, {llvm::MDString::get(
                    context_, unroll ? "llvm.loop.unroll.full" : "llvm.loop.unroll.disable")});
  llvm::MDNode* id = llvm::MDNode::getDistinct(context_, {nullptr, advice});
  id->replaceOperandWith(0, id);
  back->setMetadata(llvm::LLVMContext::MD_loop, id);

  builder_.SetInsertPoint(region.after);
  const auto leave = [&](llvm::PHINode* carry, Value* at_latch) {
    llvm::PHINode* result = builder_.CreatePHI(carry->getType(), 2);
    if (!region.value_at_end) result->addIncoming(carry, region.header);
    if (goes_on) result->addIncoming(at_latch, latch);
    return result;
  };
  std::vector<Value*> nans;
  for (size_t c = 0; c < carried; ++c) {
    const Carry& carry = region.carries[c];
    values_[region.value + 1 + c] = leave(carry.value, last[c]);
    nans.push_back(carry.nan ? leave(carry.nan, carry.next_nan) : nullptr);
  }
  for (size_t c = 0; c < carried; ++c) {
    Value*& result = values_[region.value + 1 + c];
    if (nans[c])
      result = builder_.CreateSelect(nans[c], llvm::ConstantFP::getNaN(result->getType()), result);
  }
}

void Emitter::begin_if(const tn_op& op) {
  Region region;
  llvm::BasicBlock* then = block("then");
  region.otherwise = block("else");
  region.after = block("after");
  builder_.CreateCondBr(operand(op, 0), then, region.otherwise);
  builder_.SetInsertPoint(then);
  regions_.push_back(std::move(region));
}

void Emitter::begin_else() {
  Region& region = regions_.back();
  builder_.CreateBr(region.after);
  builder_.SetInsertPoint(region.otherwise);
  region.in_else = true;
}

void Emitter::end_region(const tn_op& op) {
  Region region = std::move(regions_.back());
  regions_.pop_back();
  if (region.is_loop) return end_loop(op, region);
  builder_.CreateBr(region.after);
  if (!region.in_else) {
    builder_.SetInsertPoint(region.otherwise);
    builder_.CreateBr(region.after);
  }
  builder_.SetInsertPoint(region.after);
}

}  // namespace tenon::cpu
