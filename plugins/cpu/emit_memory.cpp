// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TAKE and STORE. A scalar mask becomes a branch, a vector mask a masked access, a vector index a
// gather or scatter.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

#include "plugins/cpu/emitter.hpp"

namespace tenon::cpu {
namespace {

using llvm::Value;

/// The largest power of two that divides both.
llvm::Align alignment_of(uint64_t bytes) { return llvm::Align(bytes & (~bytes + 1)); }

Value* from_memory(Builder& b, Value* raw, tn_dtype dtype) {
  if (dtype != TN_DTYPE_BOOL) return raw;
  return b.CreateICmpNE(raw, llvm::Constant::getNullValue(raw->getType()));
}

/// A mask whose every lane is one bool is as good as that bool.
bool is_vector(const Value* value) { return value->getType()->isVectorTy(); }

}  // namespace

Value* Emitter::wide_index(const tn_op& op) {
  const uint32_t index = program_.operands(op)[1];
  if (wide_[index]) return wide_[index];
  const bool is_signed = dtype_class(operand_dtype(op, 1)) == DTypeClass::kSigned;
  return builder_.CreateIntCast(values_[index], shaped_like(values_[index], builder_.getInt64Ty()),
                                is_signed);
}

Emitter::Pointer Emitter::element(const tn_op& op, tn_dtype dtype, unsigned lanes) {
  const uint64_t size = dtype_bits(dtype) / 8;
  Pointer pointer;
  pointer.base =
      builder_.CreateGEP(memory_type(context_, dtype, 1), operand(op, 0), wide_index(op));
  const bool scalar_index = !is_vector(operand(op, 1));
  pointer.alignment =
      op.flags & TN_OP_ALIGNED && scalar_index ? alignment_of(size * lanes) : llvm::Align(size);
  return pointer;
}

/// Prefetches the line `bytes` after an address into the nearest cache.
void Emitter::fetch(Value* at, uint64_t bytes) {
  constexpr uint32_t kRead = 0, kKeep = 3, kData = 1;
  Value* place = builder_.CreateGEP(builder_.getInt8Ty(), at, builder_.getInt64(bytes));
  builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {place->getType()},
      {place, builder_.getInt32(kRead), builder_.getInt32(kKeep), builder_.getInt32(kData)});
}

Value* Emitter::emit_load(uint32_t i, const tn_op& op) {
  const auto dtype = static_cast<tn_dtype>(op.dtype);
  const unsigned lanes = op.lanes;
  llvm::Type* type = memory_type(context_, dtype, lanes);
  const auto operands = program_.operands(op);
  Value* mask = operands.size() > 2 ? values_[operands[2]] : nullptr;
  Value* fill = operands.size() > 3 ? to_memory(builder_, values_[operands[3]], dtype)
                                    : llvm::Constant::getNullValue(type);
  if (lanes > 1 && !is_vector(fill)) fill = builder_.CreateVectorSplat(lanes, fill);
  if (is_vector(operand(op, 1)))
    if (Value* loaded = load_strided(i, mask, fill)) return from_memory(builder_, loaded, dtype);
  const Pointer at = element(op, dtype, lanes);

  if (is_vector(operand(op, 1))) {
    if (mask && !is_vector(mask)) mask = builder_.CreateVectorSplat(lanes, mask);
    if (!mask)
      mask =
          llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(builder_.getInt1Ty(), lanes));
    return from_memory(builder_,
                       builder_.CreateMaskedGather(type, at.base, at.alignment, mask, fill), dtype);
  }
  if (const auto next = prefetch_.find(i); next != prefetch_.end()) fetch(at.base, next->second);
  if (!mask)
    return from_memory(builder_, builder_.CreateAlignedLoad(type, at.base, at.alignment), dtype);
  if (is_vector(mask))
    return from_memory(builder_, builder_.CreateMaskedLoad(type, at.base, at.alignment, mask, fill),
                       dtype);

  llvm::BasicBlock *before = builder_.GetInsertBlock(), *load = block("load"),
                   *after = block("loaded");
  builder_.CreateCondBr(mask, load, after);
  builder_.SetInsertPoint(load);
  Value* loaded = builder_.CreateAlignedLoad(type, at.base, at.alignment);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  llvm::PHINode* result = builder_.CreatePHI(type, 2);
  result->addIncoming(fill, before);
  result->addIncoming(loaded, load);
  return from_memory(builder_, result, dtype);
}

void Emitter::emit_store(uint32_t i, const tn_op& op) {
  if (const auto line = interleaved_.find(i); line != interleaved_.end()) {
    if (!line->second.empty()) store_interleaved(line->second);
    return;
  }
  const tn_dtype dtype = operand_dtype(op, 0);
  const auto operands = program_.operands(op);
  Value* value = to_memory(builder_, values_[operands[2]], dtype);
  Value* mask = operands.size() > 3 ? values_[operands[3]] : nullptr;
  Value* index = operand(op, 1);
  const unsigned lanes = lanes_of(value);
  const Pointer at = element(op, dtype, lanes);

  if (is_vector(index)) {
    if (mask && !is_vector(mask)) mask = builder_.CreateVectorSplat(lanes, mask);
    builder_.CreateMaskedScatter(value, at.base, at.alignment, mask);
    return;
  }
  if (mask && is_vector(mask)) {
    builder_.CreateMaskedStore(value, at.base, at.alignment, mask);
    return;
  }
  llvm::BasicBlock* after = nullptr;
  if (mask) {
    llvm::BasicBlock* store = block("store");
    after = block("stored");
    builder_.CreateCondBr(mask, store, after);
    builder_.SetInsertPoint(store);
  }
  llvm::StoreInst* store = builder_.CreateAlignedStore(value, at.base, at.alignment);
  // Non-temporal instructions need natural alignment.
  const uint64_t bytes = uint64_t{dtype_bits(dtype) / 8} * lanes;
  if (op.flags & TN_OP_STREAM && bytes >= 16 && at.alignment.value() == bytes) {
    auto* one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context_, {one}));
    streams_ = true;
  }
  if (after) {
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }
}

}  // namespace tenon::cpu
