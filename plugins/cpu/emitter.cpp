// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program as an LLVM module: functions, arguments, the loop over workgroups, and values.
#include "plugins/cpu/emitter.hpp"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>

#include "plugins/cpu/emit_cast.hpp"
#include "plugins/cpu/emit_dot.hpp"
#include "plugins/cpu/emit_elementwise.hpp"
#include "plugins/cpu/older_llvm.hpp"
#include "plugins/cpu/prefetch_rows.hpp"
#include "sdk/backend/host_device.hpp"

namespace tenon::cpu {
namespace {

using llvm::Value;

constexpr uint64_t kOnStack = std::numeric_limits<uint64_t>::max();
/// Register allocations up to this size are allocas, which the optimiser can split (SROA).
constexpr uint64_t kStackLimit = 16 << 10;
constexpr uint64_t kScratchAlignment = 64;

bool is_buffer(const tn_param& param) { return param.kind == TN_PARAM_BUFFER; }
bool is_scalar(const tn_param& param) { return param.kind == TN_PARAM_SCALAR; }

}  // namespace

Emitter::Emitter(llvm::LLVMContext& context, const sdk::ProgramView& program, std::string triple,
                 EmitOptions options)
    : context_(context),
      program_(program),
      triple_(std::move(triple)),
      options_(options),
      builder_(context) {
  builder_.x86 = llvm::Triple(triple_).isX86();
  builder_.avx512 = options.avx512;
}

std::unique_ptr<llvm::Module> Emitter::run() {
  module_ = std::make_unique<llvm::Module>(llvm::StringRef(program_.name()), context_);
  module_->setTargetTriple(triple_);
  values_.assign(program_.op_count(), nullptr);
  wide_.assign(program_.op_count(), nullptr);
  params_.assign(program_.param_count(), nullptr);
  find_strides();
  find_extremes();
  find_interleaved();
  // With AVX-512 (Zen 4) prefetching made no difference.
  if (builder_.x86 && !options_.avx512) prefetch_ = prefetch_rows(program_);
  place_allocations();
  kernel_ = make_kernel();
  emit_grid();
  make_entry(kernel_);
  return std::move(module_);
}

void Emitter::place_allocations() {
  scratch_offsets_.assign(program_.param_count(), kOnStack);
  for (uint32_t i = 0; i < program_.param_count(); ++i) {
    const tn_param& param = program_.param(i);
    if (param.kind != TN_PARAM_ALLOC) continue;
    const uint64_t bytes = param.count * (dtype_bits(static_cast<tn_dtype>(param.dtype)) / 8);
    if (param.space == TN_SPACE_REGISTER && bytes <= kStackLimit) continue;
    const uint64_t alignment = std::max<uint64_t>(kScratchAlignment, param.alignment);
    scratch_bytes_ = (scratch_bytes_ + alignment - 1) / alignment * alignment;
    scratch_offsets_[i] = scratch_bytes_;
    scratch_bytes_ += bytes;
  }
}

llvm::Function* Emitter::make_kernel() {
  llvm::Type *i32 = builder_.getInt32Ty(), *i64 = builder_.getInt64Ty(), *ptr = builder_.getPtrTy();
  std::vector<llvm::Type*> types;
  std::vector<uint32_t> sources;  // tn_param of each
  for (uint32_t i = 0; i < program_.param_count(); ++i) {
    const tn_param& param = program_.param(i);
    if (param.kind == TN_PARAM_ALLOC && scratch_offsets_[i] == kOnStack) continue;
    types.push_back(is_scalar(param) ? value_type(context_, static_cast<tn_dtype>(param.dtype), 1)
                                     : ptr);
    sources.push_back(i);
  }
  types.insert(types.end(), {i32, i32, i32, i64, i64, i64});
  auto* function =
      llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), types, false),
                             llvm::Function::InternalLinkage, "tenon_kernel", module_.get());
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::NoInline);
  for (unsigned a = 0; a < sources.size(); ++a) {
    const tn_param& param = program_.param(sources[a]);
    llvm::Argument* argument = function->getArg(a);
    argument->setName(llvm::StringRef(program_.string(param.name)));
    params_[sources[a]] = argument;
    if (is_scalar(param)) continue;
    const bool is_local = param.kind == TN_PARAM_ALLOC;
    if (is_local || (param.access & TN_ACCESS_NOALIAS)) argument->addAttr(llvm::Attribute::NoAlias);
    if (!is_local && !(param.access & TN_ACCESS_WRITE))
      argument->addAttr(llvm::Attribute::ReadOnly);
    const uint64_t alignment = is_local ? kScratchAlignment : param.alignment;
    if (alignment > 1)
      argument->addAttr(llvm::Attribute::getWithAlignment(context_, llvm::Align(alignment)));
  }
  const unsigned fixed = static_cast<unsigned>(sources.size());
  for (unsigned axis = 0; axis < 3; ++axis) grid_[axis] = function->getArg(fixed + axis);
  begin_ = function->getArg(fixed + 3);
  end_ = function->getArg(fixed + 4);
  thread_ = function->getArg(fixed + 5);
  return function;
}

void Emitter::make_entry(llvm::Function* kernel) {
  llvm::Type *i32 = builder_.getInt32Ty(), *i64 = builder_.getInt64Ty(), *ptr = builder_.getPtrTy();
  auto* entry = llvm::Function::Create(
      llvm::FunctionType::get(builder_.getVoidTy(), {ptr, ptr, i64, i64, ptr, i64}, false),
      llvm::Function::ExternalLinkage, kEntryName, module_.get());
  entry->setDoesNotThrow();
  // It has few loads and one call for each part of a launch, so inlining does not pay.
  entry->addFnAttr(llvm::Attribute::NoInline);
  entry->addFnAttr(llvm::Attribute::OptimizeNone);
  builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", entry));
  std::vector<Value*> arguments;
  unsigned bound = 0;
  for (uint32_t i = 0; i < program_.param_count(); ++i) {
    const tn_param& param = program_.param(i);
    if (param.kind == TN_PARAM_ALLOC) {
      if (scratch_offsets_[i] != kOnStack)
        arguments.push_back(builder_.CreateConstInBoundsGEP1_64(
            builder_.getInt8Ty(), entry->getArg(4), scratch_offsets_[i]));
      continue;
    }
    const uint64_t offset = bound++ * sizeof(sdk::HostArgument) +
                            (is_buffer(param) ? offsetof(sdk::HostArgument, data)
                                              : offsetof(sdk::HostArgument, scalar));
    Value* slot =
        builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), entry->getArg(0), offset);
    if (is_buffer(param)) {
      arguments.push_back(builder_.CreateLoad(ptr, slot));
      continue;
    }
    const auto dtype = static_cast<tn_dtype>(param.dtype);
    Value* raw =
        builder_.CreateTrunc(builder_.CreateLoad(i64, slot), builder_.getIntNTy(dtype_bits(dtype)));
    llvm::Type* type = value_type(context_, dtype, 1);
    arguments.push_back(dtype == TN_DTYPE_BOOL ? builder_.CreateICmpNE(raw, builder_.getInt8(0))
                                               : builder_.CreateBitCast(raw, type));
  }
  for (unsigned axis = 0; axis < 3; ++axis)
    arguments.push_back(
        builder_.CreateLoad(i32, builder_.CreateConstInBoundsGEP1_64(i32, entry->getArg(1), axis)));
  for (unsigned a : {2u, 3u, 5u}) arguments.push_back(entry->getArg(a));
  builder_.CreateCall(kernel, arguments);
  if (streams_) {
    // Non-temporal stores are not ordered by the synchronisation at the end of the launch.
    if (llvm::Triple(module_->getTargetTriple()).isX86())
      builder_.CreateIntrinsic(builder_.getVoidTy(), llvm::Intrinsic::x86_sse_sfence, {});
    else
      builder_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  }
  builder_.CreateRetVoid();
}

llvm::BasicBlock* Emitter::block(const char* name) {
  return llvm::BasicBlock::Create(context_, name, kernel_);
}

/// Loops over rows along x, so that divisions happen once for each row.
void Emitter::emit_grid() {
  llvm::Type* i64 = builder_.getInt64Ty();
  llvm::BasicBlock* entry = block("entry");
  llvm::BasicBlock* row = block("row");
  builder_.SetInsertPoint(entry);
  for (uint32_t i = 0; i < program_.param_count(); ++i) {
    const tn_param& param = program_.param(i);
    if (param.kind != TN_PARAM_ALLOC || params_[i]) continue;
    llvm::Type* type = memory_type(context_, static_cast<tn_dtype>(param.dtype), 1);
    auto* slot = builder_.CreateAlloca(llvm::ArrayType::get(type, param.count));
    slot->setAlignment(llvm::Align(std::max<uint64_t>(kScratchAlignment, param.alignment)));
    params_[i] = slot;
  }
  Value* width = builder_.CreateZExt(grid_[0], i64);
  Value* height = builder_.CreateZExt(grid_[1], i64);
  builder_.CreateBr(row);

  builder_.SetInsertPoint(row);
  llvm::PHINode* linear = builder_.CreatePHI(i64, 2, "linear");
  linear->addIncoming(begin_, entry);
  Value* row_number = builder_.CreateUDiv(linear, width);
  Value* first = builder_.CreateSub(linear, builder_.CreateMul(row_number, width));
  position_[2] = builder_.CreateUDiv(row_number, height);
  position_[1] = builder_.CreateSub(row_number, builder_.CreateMul(position_[2], height));
  Value* count = builder_.CreateBinaryIntrinsic(
      llvm::Intrinsic::umin, builder_.CreateSub(width, first), builder_.CreateSub(end_, linear));
  Value* last = builder_.CreateAdd(first, count, "", true, true);
  llvm::BasicBlock* workgroup = block("workgroup");
  builder_.CreateBr(workgroup);

  builder_.SetInsertPoint(workgroup);
  llvm::PHINode* x = builder_.CreatePHI(i64, 2, "x");
  x->addIncoming(first, row);
  position_[0] = x;
  emit_body();
  Value* next_x = builder_.CreateAdd(x, builder_.getInt64(1), "", true, true);
  x->addIncoming(next_x, builder_.GetInsertBlock());
  llvm::BasicBlock* row_end = block("row_end");
  builder_.CreateCondBr(builder_.CreateICmpNE(next_x, last), workgroup, row_end);

  builder_.SetInsertPoint(row_end);
  Value* next = builder_.CreateAdd(linear, count, "", true, true);
  linear->addIncoming(next, row_end);
  llvm::BasicBlock* done = block("done");
  builder_.CreateCondBr(builder_.CreateICmpNE(next, end_), row, done);
  builder_.SetInsertPoint(done);
  builder_.CreateRetVoid();
}

void Emitter::emit_body() {
  for (uint32_t i = 0; i < program_.op_count(); ++i) emit_op(i);
}

void Emitter::emit_op(uint32_t i) {
  const tn_op& op = program_.op(i);
  switch (static_cast<unsigned>(op.op)) {
    case TN_OP_STORE:
      return emit_store(i, op);
    case TN_OP_LOOP:
      return begin_loop(i, op);
    case TN_OP_CARRY:
      values_[i] = regions_.back().carries[op.imm].value;
      return;
    case TN_OP_IF:
      return begin_if(op);
    case TN_OP_ELSE:
      return begin_else();
    case TN_OP_END:
      return end_region(op);
    default:
      if (!emit_wide(i, op)) values_[i] = emit_value(i, op);
  }
}

/// A scalar position, sign-extended to i64.
Value* Emitter::widened(uint32_t value) {
  return wide_[value] ? wide_[value] : builder_.CreateSExt(values_[value], builder_.getInt64Ty());
}

/// Computes sums and products of narrow positions also in 64 bits, so that addresses are affine in
/// 64-bit induction variables, without extensions in between. See begin_loop for the wide induction
/// variable.
bool Emitter::emit_wide(uint32_t i, const tn_op& op) {
  if (op.dtype != TN_DTYPE_I32 || op.lanes > 1 || !(op.flags & TN_OP_NO_WRAP)) return false;
  const auto operands = program_.operands(op);
  Value *x = widened(operands[0]), *y = widened(operands[1]);
  wide_[i] = op.op == TN_OP_ADD   ? builder_.CreateNSWAdd(x, y)
             : op.op == TN_OP_SUB ? builder_.CreateNSWSub(x, y)
                                  : builder_.CreateNSWMul(x, y);
  values_[i] = narrowed(builder_, wide_[i], builder_.getInt32Ty(), false);
  return true;
}

Value* Emitter::emit_index(const tn_op& op) {
  llvm::Type* type = value_type(context_, static_cast<tn_dtype>(op.dtype), 1);
  Value* scalar = nullptr;
  switch (static_cast<tn_axis>(op.imm)) {
    case TN_AXIS_GRID_X:
    case TN_AXIS_GRID_Y:
    case TN_AXIS_GRID_Z:
      scalar = position_[op.imm - TN_AXIS_GRID_X];
      break;
    case TN_AXIS_BLOCK_X:
    case TN_AXIS_BLOCK_Y:
    case TN_AXIS_BLOCK_Z:
      scalar = builder_.getInt64(0);
      break;
    case TN_AXIS_CPU_THREAD:
      scalar = thread_;
      break;
    case TN_AXIS_LANE: {
      if (op.lanes == 1) return llvm::Constant::getNullValue(type);
      std::vector<llvm::Constant*> lanes;
      for (unsigned lane = 0; lane < op.lanes; ++lane)
        lanes.push_back(llvm::ConstantInt::get(type, lane));
      return llvm::ConstantVector::get(lanes);
    }
    case TN_AXIS_SUBGROUP:
    case TN_AXIS_SUBGROUP_LANE:
    case TN_AXIS_CLUSTER_X:
      break;
  }
  if (!scalar)
    throw std::invalid_argument("[index] expected a grid, block, lane or thread axis, got axis " +
                                std::to_string(op.imm));
  // The program guarantees that the position fits.
  Value* narrow = type->isIntegerTy(64) ? scalar : narrowed(builder_, scalar, type, true);
  return op.lanes > 1 ? builder_.CreateVectorSplat(op.lanes, narrow) : narrow;
}

/// x * y + z rounded once, if the program allows it and the target has it; else null.
Value* Emitter::contracted(const tn_op& op) {
  if (!(op.flags & TN_OP_CONTRACT) || !options_.fuse_multiply_add ||
      dtype_class(static_cast<tn_dtype>(op.dtype)) != DTypeClass::kFloat)
    return nullptr;
  for (uint32_t side = 0; side < 2; ++side) {
    const tn_op& product = program_.op(program_.operands(op)[side]);
    if (product.op != TN_OP_MUL) continue;
    Value* x = operand(product, 0);
    return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()},
                                    {x, operand(product, 1), operand(op, 1 - side)});
  }
  return nullptr;
}

/// A vector of lanes of one vector as a shuffle; null for other operands.
Value* Emitter::moved_lanes(const tn_op& op) {
  Value* from = nullptr;
  llvm::SmallVector<int> picks;
  for (const uint32_t v : program_.operands(op)) {
    const tn_op& part = program_.op(v);
    if (part.op != TN_OP_EXTRACT || (from && from != operand(part, 0))) return nullptr;
    from = operand(part, 0);
    picks.push_back(static_cast<int>(part.imm));
  }
  return lanes_of(from) > 1 ? builder_.CreateShuffleVector(from, picks) : nullptr;
}

Value* Emitter::emit_value(uint32_t i, const tn_op& op) {
  const auto dtype = static_cast<tn_dtype>(op.dtype);
  switch (static_cast<unsigned>(op.op)) {
    case TN_OP_CONST:
      return constant(context_, dtype, op.lanes, op.imm);
    case TN_OP_PARAM:
      return params_[op.imm];
    case TN_OP_INDEX:
      return emit_index(op);
    case TN_OP_TAKE:
      return emit_load(i, op);
    case TN_OP_CAST: {
      const tn_dtype from = operand_dtype(op, 0);
      return op.imm == TN_CAST_BITS ? emit_bit_cast(builder_, operand(op, 0), from, dtype)
                                    : emit_cast(builder_, operand(op, 0), from, dtype);
    }
    case TN_OP_BROADCAST:
      return op.lanes > 1 ? builder_.CreateVectorSplat(op.lanes, operand(op, 0)) : operand(op, 0);
    case TN_OP_EXTRACT:
      return lanes_of(operand(op, 0)) > 1 ? builder_.CreateExtractElement(operand(op, 0), op.imm)
                                          : operand(op, 0);
    case TN_OP_COMPOSE: {
      if (op.lanes == 1) return operand(op, 0);
      if (Value* moved = moved_lanes(op)) return moved;
      Value* vector = llvm::PoisonValue::get(value_type(context_, dtype, op.lanes));
      for (uint32_t lane = 0; lane < op.lanes; ++lane)
        vector = builder_.CreateInsertElement(vector, operand(op, lane), uint64_t{lane});
      return vector;
    }
    case TN_OP_DOT:
      return emit_dot(builder_, dtype, {operand(op, 0), operand(op, 1), operand(op, 2)},
                      options_.vector_bytes / 4);
    case TN_OP_LANE_REDUCE:
      return emit_lane_reduce(builder_, static_cast<tn_opcode>(op.imm), dtype, operand(op, 0));
    default:
      break;
  }
  if (extremes_[i] != kNone) return emit_running_extreme(i);
  if (op.op == TN_OP_ADD) {
    if (Value* fused = contracted(op)) return fused;
  }
  std::vector<Value*> operands;
  for (uint32_t v : program_.operands(op)) operands.push_back(values_[v]);
  if (operands.empty())
    throw std::invalid_argument("[cpu] expected an op of version 1, got op " +
                                std::to_string(op.op) + " as number " + std::to_string(i));
  const tn_dtype input = operand_dtype(op, op.op == TN_OP_WHERE ? 1 : 0);
  return emit_elementwise(builder_, static_cast<tn_opcode>(op.op), input, operands,
                          op.flags & TN_OP_NO_WRAP);
}

}  // namespace tenon::cpu
