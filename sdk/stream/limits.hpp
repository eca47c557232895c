// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits of a device or target, and how to query them.
#pragma once

#include <cstdint>
#include <functional>

#include "tenon/plugin.h"

namespace tenon::sdk {

/// 0: unknown or no limit, as in tn_properties.
struct StreamLimits {
  uint32_t workgroup[3] = {1024, 1024, 64};
  uint32_t workgroup_threads = 1024;
  uint32_t grid[3] = {0x7fffffff, 65535, 65535};
  uint64_t axis_threads = 0;  ///< most threads of a grid along one axis
  uint32_t shared_bytes = 48 << 10;
  uint32_t subgroup = 32;
  uint32_t registers = 255;  ///< 32-bit registers a thread
  uint32_t compute_units = 0;
  bool async_copies = false;  ///< has asynchronous copies to shared memory
  uint64_t l2_bytes = 0;
  uint64_t memory_bytes = 0;
  const tn_rates* rates = nullptr;  ///< of the architecture; lives as long as the process
};

/// Most workgroups along an axis, for workgroups of any size, so that no launch exceeds
/// axis_threads.
uint32_t most_workgroups(const StreamLimits& limits, int axis);

/// Attribute numbers of a driver. block and grid are those of x; y and z follow.
struct StreamAttributes {
  int threads, block, grid, shared_bytes, subgroup, compute_units, l2_bytes, memory_pools;
};

/// `ask` returns the value of an attribute, or 0 if unknown; then the limit of `otherwise` is used.
StreamLimits read_limits(const StreamAttributes& attributes, const StreamLimits& otherwise,
                         const std::function<int(int)>& ask);

}  // namespace tenon::sdk
