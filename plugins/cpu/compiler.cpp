// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles: emits LLVM IR, optimises it and generates code.
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
#include <span>

#include "plugins/cpu/emitter.hpp"
#include "plugins/cpu/older_llvm.hpp"
#include "plugins/cpu/optimise.hpp"
#include "plugins/cpu/target_machine.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::cpu {
namespace {

/// The LLVM objects of one compilation.
struct Unit {
  Unit(const sdk::ProgramView& program, const TargetSpec& target)
      : generator(target),
        emitter(context, program, target.triple,
                {target.fuse_multiply_add, target.avx512, target.vector_bytes}) {}
  llvm::LLVMContext context;  // one for each compilation, as contexts are not thread-safe
  CodeGeneratorLoan generator;
  Emitter emitter;
  std::unique_ptr<llvm::Module> module;
  Optimiser optimiser;
};

/// A fatal error of LLVM.
struct FatalFailure : sdk::Failure {
  using Failure::Failure;
};

/// LLVM ends the process when out of memory or on a fatal error, unless a handler throws. Its
/// frames can be unwound, but as it is built without exceptions, its objects are then in an
/// undefined state.
void install_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
    llvm::install_fatal_error_handler([](void*, const char* reason, bool) {
      throw FatalFailure(TN_ERROR_INTERNAL, std::string("llvm: ") + reason);
    });
  });
}

/// Calls make(unit). After a failure inside LLVM the unit is leaked, as its destructors might
/// crash.
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
  module.setDataLayout(unit.generator->machine().createDataLayout());
  // Otherwise LLVM splits 512-bit vectors into halves.
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

void optimise(Unit& unit, const TargetSpec& target) {
  unit.optimiser.run(*unit.module, unit.generator->machine(), target.vector_registers,
                     unit.emitter.wants_unroll());
}

}  // namespace

Object compile_object(const sdk::ProgramView& program, const TargetSpec& target) {
  return with_unit(program, target, [&](Unit& unit) {
    emit(unit, target);
    optimise(unit, target);
    const auto bytes = std::as_bytes(std::span(unit.generator->object_of(*unit.module)));
    return Object{{bytes.begin(), bytes.end()}, unit.emitter.scratch_bytes()};
  });
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
  return with_unit(program, target, [&](Unit& unit) {
    emit(unit, target);
    optimise(unit, target);
    llvm::SmallVector<char, 0> text;
    llvm::raw_svector_ostream stream(text);
    llvm::legacy::PassManager passes;
    if (unit.generator->machine().addPassesToEmitFile(passes, stream, nullptr, kAssemblyFile,
                                                      /*DisableVerify=*/true))
      throw sdk::Failure(TN_ERROR_INTERNAL, "llvm: the target cannot write this kind of file");
    passes.run(*unit.module);
    return std::string(text.begin(), text.end());
  });
}

}  // namespace tenon::cpu
