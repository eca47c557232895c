// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/optimise.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "plugins/cpu/rematerialise_constants.hpp"

namespace tenon::cpu {

struct Optimiser::Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cycles;
  llvm::ModuleAnalysisManager modules;
};

Optimiser::Optimiser() : analyses_(std::make_unique<Analyses>()) {}
Optimiser::~Optimiser() = default;

void Optimiser::run(llvm::Module& module, llvm::TargetMachine& machine, uint32_t registers,
                    bool unroll) {
  auto& [loops, functions, cycles, modules] = *analyses_;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cycles);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cycles, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass());
  if (unroll) {
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass(2, true)));
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  }
  passes.addPass(llvm::InstCombinePass());
  // No IndVarSimplify, which took a quarter of the time: loops are emitted in the form that it
  // makes.
  llvm::LoopPassManager loop_passes;
  loop_passes.addPass(llvm::LoopRotatePass());
  loop_passes.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loop_passes), /*MemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(/*MemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.hasOptNone()) continue;
    functions.invalidate(function, passes.run(function, functions));
    rematerialise_constants(function, functions.getResult<llvm::LoopAnalysis>(function),
                            functions.getResult<llvm::DominatorTreeAnalysis>(function), registers);
  }
}

}  // namespace tenon::cpu
