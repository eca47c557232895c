// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descendants of a process, read from /proc.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon {

/// All descendants of `root`, without zombies.
std::vector<int> processes_below(int root);
/// Bytes of anonymous and shared memory of a process, without file mappings. 0 if it has ended.
uint64_t own_memory(int process);
/// Kills and reaps all descendants, also those started meanwhile. For a subreaper.
void end_processes_below(int root);

}  // namespace tenon
