// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes between emission and code generation.
#pragma once

#include <cstdint>
#include <memory>

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tenon::cpu {

/// For one module, which it does not outlive.
class Optimiser {
 public:
  Optimiser();
  ~Optimiser();
  /// Few and cheap: a program comes tiled, vectorised and hoisted by the core. Nothing here
  /// reorders or fuses floating point. `registers`: of vectors; `unroll`: some loop asks to be
  /// unrolled fully.
  void run(llvm::Module& module, llvm::TargetMachine& machine, uint32_t registers, bool unroll);

 private:
  struct Analyses;  ///< what passes keep of the module
  std::unique_ptr<Analyses> analyses_;
};

}  // namespace tenon::cpu
