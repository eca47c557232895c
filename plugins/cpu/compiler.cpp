// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits, optimises and generates code.
#include "plugins/cpu/compiler.hpp"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "plugins/cpu/emitter.hpp"
#include "plugins/cpu/optimise.hpp"
#include "plugins/cpu/target_machine.hpp"
#include "sdk/helpers/failure.hpp"

namespace tenon::cpu {
namespace {

struct Unit {
  explicit Unit(const TargetSpec& target) : machine(target) {}
  llvm::LLVMContext context;  // one for each compilation, so that they share nothing
  TargetMachineLoan machine;
  std::unique_ptr<llvm::Module> module;
  uint64_t scratch_bytes = 0;
  bool unroll = false;
};

std::unique_ptr<Unit> emit(const sdk::ProgramView& program, const TargetSpec& target) {
  auto unit = std::make_unique<Unit>(target);
  Emitter emitter(unit->context, program, target.triple, {target.fuse_multiply_add});
  unit->module = emitter.run();
  unit->scratch_bytes = emitter.scratch_bytes();
  unit->unroll = emitter.wants_unroll();
  llvm::Module& module = *unit->module;
  module.setDataLayout(unit->machine->createDataLayout());
  // Else LLVM splits 512-bit vectors into halves.
  const std::string width = std::to_string(target.vector_bytes * 8);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr("prefer-vector-width", width);
  }
#ifndef NDEBUG
  std::string why;
  llvm::raw_string_ostream stream(why);
  if (llvm::verifyModule(module, &stream))
    throw sdk::Failure(TN_ERROR_INTERNAL, "llvm: emitted a module that does not verify: " + why);
#endif
  return unit;
}

llvm::SmallVector<char, 0> generate(const sdk::ProgramView& program, const TargetSpec& target,
                                    llvm::CodeGenFileType type, uint64_t& scratch_bytes) {
  const std::unique_ptr<Unit> unit = emit(program, target);
  optimise(*unit->module, *unit->machine, unit->unroll);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (unit->machine->addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
    throw sdk::Failure(TN_ERROR_INTERNAL, "llvm: the target cannot write this kind of file");
  passes.run(*unit->module);
  scratch_bytes = unit->scratch_bytes;
  return bytes;
}

}  // namespace

Object compile_object(const sdk::ProgramView& program, const TargetSpec& target) {
  Object object;
  const auto bytes =
      generate(program, target, llvm::CodeGenFileType::ObjectFile, object.scratch_bytes);
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  object.bytes.assign(data, data + bytes.size());
  return object;
}

std::string compile_ir(const sdk::ProgramView& program, const TargetSpec& target) {
  const std::unique_ptr<Unit> unit = emit(program, target);
  std::string text;
  llvm::raw_string_ostream stream(text);
  unit->module->print(stream, nullptr);
  return text;
}

std::string compile_assembly(const sdk::ProgramView& program, const TargetSpec& target) {
  uint64_t scratch_bytes = 0;
  const auto bytes = generate(program, target, llvm::CodeGenFileType::AssemblyFile, scratch_bytes);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace tenon::cpu
