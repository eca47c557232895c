// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles cases for a target that need not be there, and looks at what came out: what can be said
// of a backend without its hardware.
#pragma once

#include <string>

#include "conformance/cases/case.hpp"
#include "conformance/judge/harness.hpp"
#include "conformance/judge/transform_choice.hpp"
#include "core/compile/compiler.hpp"
#include "core/device/target_compiler.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::conformance::judge {

class CompileHarness {
 public:
  /// Throws what the TargetCompiler throws.
  explicit CompileHarness(const Target& target);

  const TargetCompiler& compiler() const { return compiler_; }
  Builder& builder() { return builder_; }

  /// Lowers and compiles each kernel. FAIL of kind "support" (refused, or the core could not lower
  /// it), "compile", "empty" (no binary), "entry" (a binary that does not name the kernel), "spill"
  /// (registers of a single op's kernel went to memory). Never throws.
  Outcome run(const Case& test);

 private:
  void compile_kernel(const Case& test, const KernelCall& call, TransformChooser& chooser,
                      Outcome& outcome);
  void keep(const Case& test, const sdk::Program& program, const CompiledProgram& compiled);

  Builder builder_;
  Compiler pipeline_{builder_};
  TargetCompiler compiler_;
  std::string folder_;
  int kernel_ = 0;  ///< of the case
};

}  // namespace tenon::conformance::judge
