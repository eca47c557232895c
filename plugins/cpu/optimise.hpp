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

/// For one module, which must outlive it.
class Optimiser {
 public:
  Optimiser();
  ~Optimiser();
  /// Runs few, cheap passes, as the core already tiles, vectorises and hoists. No pass reorders or
  /// fuses floating point. `registers`: number of vector registers. `unroll`: some loop asks for
  /// full unrolling.
  void run(llvm::Module& module, llvm::TargetMachine& machine, uint32_t registers, bool unroll);

 private:
  struct Analyses;  ///< analysis results of the module
  std::unique_ptr<Analyses> analyses_;
};

}  // namespace tenon::cpu
