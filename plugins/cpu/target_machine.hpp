// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's view of a target.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "plugins/cpu/target.hpp"

namespace tenon::cpu {

/// One for each compilation: it is not thread-safe. Throws sdk::Failure.
/// A code generator for one compilation. Making one parses all features of the processor, a tenth
/// of the time that a small kernel takes to compile: so they are kept and lent again.
class TargetMachineLoan {
 public:
  explicit TargetMachineLoan(const TargetSpec& target);
  ~TargetMachineLoan();
  TargetMachineLoan(const TargetMachineLoan&) = delete;
  TargetMachineLoan& operator=(const TargetMachineLoan&) = delete;

  llvm::TargetMachine& operator*() const { return *machine_; }
  llvm::TargetMachine* operator->() const { return machine_.get(); }

 private:
  std::string target_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace tenon::cpu
