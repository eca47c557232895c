// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants of loops that stand beside a register tile.
#pragma once

#include <cstdint>

namespace llvm {
class DominatorTree;
class Function;
class LoopInfo;
}  // namespace llvm

namespace tenon::cpu {

/// Code generation moves the constants of a loop out of all loops around it, where they take
/// registers from the sums of a tile that is computed in one of these, and sums go to the stack in
/// its innermost loop. Here the vectors among them are read before the outermost loop that has no
/// such tile in it, by loads that nothing may move. `registers`: of vectors.
void keep_constants_near(llvm::Function& function, llvm::LoopInfo& loops, llvm::DominatorTree& tree,
                         uint32_t registers);

}  // namespace tenon::cpu
