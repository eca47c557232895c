// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Processes below one, as /proc shows them.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon {

/// All that descend from `root`, without it; zombies are left out.
std::vector<int> processes_below(int root);
/// Bytes of memory that are this process's alone or shared memory, and no file's; 0 if it is gone.
uint64_t own_memory(int process);
/// Kills and reaps them, and what they start meanwhile. For a subreaper.
void end_processes_below(int root);

}  // namespace tenon
