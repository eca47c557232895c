// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits, optimises and generates code.
#include "plugins/cpu/compiler.hpp"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>
#include <new>

#include "plugins/cpu/emitter.hpp"
#include "plugins/cpu/optimise.hpp"
#include "plugins/cpu/target_machine.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::cpu {
namespace {

/// All that LLVM makes in one compilation.
struct Unit {
  Unit(const sdk::ProgramView& program, const TargetSpec& target)
      : machine(target),
        emitter(context, program, target.triple,
                {target.fuse_multiply_add, target.avx512, target.vector_bytes}) {}
  llvm::LLVMContext context;  // one for each compilation, so that they share nothing
  TargetMachineLoan machine;
  Emitter emitter;
  std::unique_ptr<llvm::Module> module;
  Optimiser optimiser;
  llvm::legacy::PassManager passes;
};

/// What LLVM calls fatal.
struct FatalFailure : sdk::Failure {
  using Failure::Failure;
};

/// Where LLVM is out of memory or cannot go on it ends the process, unless a handler leaves by an
/// exception. Its frames can be unwound; it is built without exceptions, so its objects are then as
/// they happen to be.
void install_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
    llvm::install_fatal_error_handler([](void*, const char* reason, bool) {
      throw FatalFailure(TN_ERROR_INTERNAL, std::string("llvm: ") + reason);
    });
  });
}

/// make(unit). After a failure inside LLVM the unit is left lying: its destructors might crash.
template <class F>
auto with_unit(const sdk::ProgramView& program, const TargetSpec& target, F&& make) {
  install_handlers();
  auto unit = std::make_unique<Unit>(program, target);
  try {
    return make(*unit);
  } catch (const std::bad_alloc&) {
    (void)unit.release();
    throw;
  } catch (const FatalFailure&) {
    (void)unit.release();
    throw;
  }
}

void emit(Unit& unit, const TargetSpec& target) {
  unit.module = unit.emitter.run();
  llvm::Module& module = *unit.module;
  module.setDataLayout(unit.machine->createDataLayout());
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
}

llvm::SmallVector<char, 0> generate(const sdk::ProgramView& program, const TargetSpec& target,
                                    llvm::CodeGenFileType type, uint64_t& scratch_bytes) {
  return with_unit(program, target, [&](Unit& unit) {
    emit(unit, target);
    unit.optimiser.run(*unit.module, *unit.machine, unit.emitter.wants_unroll());
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    if (unit.machine->addPassesToEmitFile(unit.passes, stream, nullptr, type,
                                          /*DisableVerify=*/true))
      throw sdk::Failure(TN_ERROR_INTERNAL, "llvm: the target cannot write this kind of file");
    unit.passes.run(*unit.module);
    scratch_bytes = unit.emitter.scratch_bytes();
    return bytes;
  });
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
  return with_unit(program, target, [&](Unit& unit) {
    emit(unit, target);
    std::string text;
    llvm::raw_string_ostream stream(text);
    unit.module->print(stream, nullptr);
    return text;
  });
}

std::string compile_assembly(const sdk::ProgramView& program, const TargetSpec& target) {
  uint64_t scratch_bytes = 0;
  const auto bytes = generate(program, target, llvm::CodeGenFileType::AssemblyFile, scratch_bytes);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace tenon::cpu
