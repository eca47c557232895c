// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/rematerialise_constants.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <map>

namespace tenon::cpu {
namespace {

using llvm::Instruction;
using llvm::Loop;

/// Whether a loop is a register tile: innermost, with sums in at least half of the registers.
bool is_tile(const Loop& loop, uint32_t registers) {
  if (!loop.isInnermost()) return false;
  uint32_t sums = 0;
  for (const llvm::PHINode& phi : loop.getHeader()->phis()) sums += phi.getType()->isVectorTy();
  return 2 * sums >= registers;
}

/// The outermost loop around `loop`, or itself, that contains no other tile. Null if there is no
/// tile in the loops further out.
Loop* outermost_with_one_tile(Loop& loop, uint32_t registers) {
  Loop* at = &loop;
  for (Loop* parent = at->getParentLoop(); parent; at = parent, parent = at->getParentLoop())
    for (const Loop* other : parent->getLoopsInPreorder())
      if (other != &loop && is_tile(*other, registers)) return at;
  return nullptr;
}

/// Whether a constant operand of the instruction may as well be in a register.
bool takes_registers(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::FAdd:
    case Instruction::FSub:
    case Instruction::FMul:
    case Instruction::FDiv:
    case Instruction::FCmp:
    case Instruction::Select:
    case Instruction::Add:
    case Instruction::Sub:
      return true;
    default:
      break;
  }
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == llvm::Intrinsic::fma;
}

bool is_in_memory(const llvm::Value& value) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantData>(&value);
  const auto* parts = llvm::dyn_cast<llvm::ConstantVector>(&value);
  if (!value.getType()->isVectorTy() || value.getType()->isIntOrIntVectorTy(1)) return false;
  return parts || (constant && !constant->isNullValue() && !llvm::isa<llvm::UndefValue>(constant));
}

}  // namespace

void rematerialise_constants(llvm::Function& function, llvm::LoopInfo& loops,
                             llvm::DominatorTree& tree, uint32_t registers) {
  std::map<std::pair<Loop*, llvm::Value*>, Instruction*> loaded;
  const auto load = [&](Loop& before, llvm::Constant* constant) -> Instruction* {
    Instruction*& load = loaded[{&before, constant}];
    if (load) return load;
    llvm::BasicBlock* block = before.getLoopPreheader();
    if (!block) block = llvm::InsertPreheaderForLoop(&before, &tree, &loops, nullptr, false);
    llvm::Module& module = *function.getParent();
    auto* memory = new llvm::GlobalVariable(module, constant->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::PrivateLinkage, constant);
    memory->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    const llvm::Align alignment(module.getDataLayout().getTypeAllocSize(constant->getType()));
    memory->setAlignment(alignment);
    llvm::IRBuilder<> builder(block->getTerminator());
    return load = builder.CreateAlignedLoad(constant->getType(), memory, alignment,
                                            /*isVolatile=*/true);
  };
  for (Loop* loop : loops.getLoopsInPreorder()) {
    Loop* before = loop->isInnermost() ? outermost_with_one_tile(*loop, registers) : nullptr;
    if (!before) continue;
    for (llvm::BasicBlock* block : loop->blocks())
      for (Instruction& instruction : *block) {
        if (!takes_registers(instruction)) continue;
        for (llvm::Use& operand : instruction.operands())
          if (is_in_memory(*operand))
            operand.set(load(*before, llvm::cast<llvm::Constant>(operand.get())));
      }
  }
}

}  // namespace tenon::cpu
