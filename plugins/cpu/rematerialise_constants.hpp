// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rematerialises constants of loops beside a register tile.
#pragma once

#include <cstdint>

namespace llvm {
class DominatorTree;
class Function;
class LoopInfo;
}  // namespace llvm

namespace tenon::cpu {

/// Code generation hoists constants of a loop out of all loops around it. There they take registers
/// from the sums of a tile in one of these loops, which then spill in its innermost loop. This
/// loads vector constants before the outermost loop without such a tile, by loads that cannot be
/// moved. `registers`: number of vector registers.
void rematerialise_constants(llvm::Function& function, llvm::LoopInfo& loops,
                             llvm::DominatorTree& tree, uint32_t registers);

}  // namespace tenon::cpu
