// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's view of a target, and what generates code for it.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "plugins/cpu/target.hpp"

namespace tenon::cpu {

/// Generates code for one module after another: making a machine parses all features of the
/// processor, and making its passes is a tenth of the time that a small kernel takes to compile.
class CodeGenerator {
 public:
  explicit CodeGenerator(std::unique_ptr<llvm::TargetMachine> machine);

  llvm::TargetMachine& machine() { return *machine_; }
  /// An object file, until the next one. Throws sdk::Failure.
  const llvm::SmallVectorImpl<char>& object_of(llvm::Module& module);

 private:
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream stream_;
  llvm::legacy::PassManager passes_;
  bool has_passes_ = false;
};

/// A code generator for one compilation, as it is not thread-safe; kept and lent again. Throws
/// sdk::Failure.
class CodeGeneratorLoan {
 public:
  explicit CodeGeneratorLoan(const TargetSpec& target);
  ~CodeGeneratorLoan();
  CodeGeneratorLoan(const CodeGeneratorLoan&) = delete;
  CodeGeneratorLoan& operator=(const CodeGeneratorLoan&) = delete;

  CodeGenerator& operator*() const { return *generator_; }
  CodeGenerator* operator->() const { return generator_.get(); }

 private:
  std::string target_;
  std::unique_ptr<CodeGenerator> generator_;
};

}  // namespace tenon::cpu
