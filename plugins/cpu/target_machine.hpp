// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The LLVM target machine of a target, and its code generator.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "plugins/cpu/target.hpp"

namespace tenon::cpu {

/// Generates code for one module after another. It is reused, as making a machine parses all
/// features, and making its passes takes a tenth of the compile time of a small kernel.
class CodeGenerator {
 public:
  explicit CodeGenerator(std::unique_ptr<llvm::TargetMachine> machine);

  llvm::TargetMachine& machine() { return *machine_; }
  /// The object file, valid until the next call. Throws sdk::Failure.
  const llvm::SmallVectorImpl<char>& object_of(llvm::Module& module);

 private:
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream stream_;
  llvm::legacy::PassManager passes_;
  bool has_passes_ = false;
};

/// Borrows a code generator for one compilation, as it is not thread-safe, and returns it to a
/// cache. Throws sdk::Failure.
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
