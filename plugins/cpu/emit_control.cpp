// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LOOP, CARRY, IF, ELSE and END. A loop is tested in its header, whose phis are the carried values;
// a while loop is also left from its latch.
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

#include "plugins/cpu/emitter.hpp"

namespace tenon::cpu {

using llvm::Value;

void Emitter::begin_loop(uint32_t i, const tn_op& op) {
  const auto operands = program_.operands(op);
  Region region;
  region.is_loop = true;
  region.op = &op;
  region.value = i;
  region.step = values_[operands[2]];
  region.header = block("loop");
  region.body = block("body");
  region.after = block("after");
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  builder_.CreateBr(region.header);
  builder_.SetInsertPoint(region.header);
  region.induction = builder_.CreatePHI(values_[operands[0]]->getType(), 2);
  region.induction->addIncoming(values_[operands[0]], before);
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
  builder_.CreateCondBr(builder_.CreateICmpSLT(region.induction, values_[operands[1]]), region.body,
                        region.after);
  builder_.SetInsertPoint(region.body);
  values_[i] = region.induction;
  regions_.push_back(std::move(region));
}

/// The next induction value cannot wrap: by one it stays at or below the end, and a constant
/// step fits beyond a constant end.
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
  const auto bounds = program_.operands(*region.op);
  const size_t carried = region.carries.size();
  Value* induction = builder_.CreateAdd(region.induction, region.step, "", false,
                                        step_fits(values_[bounds[1]], region.step));
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  region.induction->addIncoming(induction, latch);
  // Read before values_ says what the carries are after the loop: a next value may be a carry.
  std::vector<Value*> last;
  for (size_t c = 0; c < carried; ++c) last.push_back(values_[next[c]]);
  for (size_t c = 0; c < carried; ++c) {
    const Carry& carry = region.carries[c];
    carry.value->addIncoming(last[c], latch);
    if (carry.nan) carry.nan->addIncoming(carry.next_nan, latch);
  }
  const bool is_while = region.op->flags & TN_OP_WHILE;
  llvm::Instruction* back =
      is_while ? builder_.CreateCondBr(values_[next[carried]], region.header, region.after)
               : builder_.CreateBr(region.header);
  // Only where the program asks: a kernel is already tiled.
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
    result->addIncoming(carry, region.header);
    if (is_while) result->addIncoming(at_latch, latch);
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
