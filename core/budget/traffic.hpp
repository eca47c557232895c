// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes that a launch moves between multiprocessors and the L2 cache, and between L2 and memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/ir/capabilities.hpp"
#include "sdk/program/view.hpp"

namespace tenon {

struct Traffic {
  double cache_bytes = 0, memory_bytes = 0;
  std::map<uint32_t, double> misses;  ///< by op of a load: share of its bytes that miss L1
};

/// `together`: the number of concurrent workgroups. Model: repeated reads of a workgroup hit L1.
/// Concurrent workgroups read shared bytes from memory once. Later workgroups hit L2 if it holds
/// all bound buffers.
Traffic traffic_of(const sdk::ProgramView& program, const std::array<uint64_t, 3>& grid,
                   const std::vector<uint64_t>& scalars, const Capabilities& device,
                   uint64_t together);

}  // namespace tenon
