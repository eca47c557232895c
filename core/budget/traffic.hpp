// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes that a launch moves between its units and the cache, and between the cache and memory.
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
  std::map<uint32_t, double>
      misses;  ///< of a load, by its op: the share that its unit does not hold
};

/// `together`: workgroups that run at the same time, the first ones of the launch. What a
/// workgroup reads twice it finds in its own cache; what several of these read comes from memory
/// once; what others read again later does so too where the cache holds all that the kernel binds.
Traffic traffic_of(const sdk::ProgramView& program, const std::array<uint64_t, 3>& grid,
                   const std::vector<uint64_t>& scalars, const Capabilities& device,
                   uint64_t together);

}  // namespace tenon
