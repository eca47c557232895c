// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits of a device or target, and how a driver is asked for them.
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
  uint64_t axis_threads = 0;  ///< of a grid, along one axis
  uint32_t shared_bytes = 48 << 10;
  uint32_t subgroup = 32;
  uint32_t registers = 255;  ///< 32-bit registers a thread
  uint32_t compute_units = 0;
  bool async_copies = false;  ///< to shared memory, that go on while threads compute
  uint64_t l2_bytes = 0;
  uint64_t memory_bytes = 0;
  const tn_rates* rates = nullptr;  ///< of the architecture; lives as long as the process
};

/// Workgroups along an axis, whatever the size of one: so that no launch has more than
/// axis_threads.
uint32_t most_workgroups(const StreamLimits& limits, int axis);

/// A driver's numbers of attributes; block and grid stand for x, with y and z after it.
struct StreamAttributes {
  int threads, block, grid, shared_bytes, subgroup, compute_units, l2_bytes, memory_pools;
};

/// `ask` gives the value of an attribute, 0 if the driver does not say; then `otherwise` stays.
StreamLimits read_limits(const StreamAttributes& attributes, const StreamLimits& otherwise,
                         const std::function<int(int)>& ask);

}  // namespace tenon::sdk
