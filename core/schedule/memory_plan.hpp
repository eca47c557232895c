// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs temporaries into one arena for each device, by liveness, for given values of the symbols.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/schedule/schedule.hpp"

namespace tenon {

struct MemoryPlan {
  std::vector<int64_t> bytes;   ///< of each buffer of the schedule
  std::vector<int64_t> offset;  ///< in its device's arena; -1: an input, output or aliased to one
  std::vector<int64_t> arena_bytes;  ///< of each device
  int64_t sum_bytes = 0;             ///< of all temporaries, without reuse
};

/// For each buffer the buffer whose memory it uses: itself, or one that a kernel overwrites.
std::vector<int> owners(const Schedule& schedule);

/// Temporaries alive at the same step never overlap. Offsets are multiples of `alignment` bytes.
MemoryPlan plan_memory(const Schedule& schedule, const std::map<std::string, int64_t>& symbols,
                       int64_t alignment);

}  // namespace tenon
