// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes between emission and code generation.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tenon::cpu {

/// Few and cheap: a program comes tiled, vectorised and hoisted by the core. Nothing here reorders
/// or fuses floating point. `unroll`: some loop asks to be unrolled fully.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, bool unroll);

}  // namespace tenon::cpu
