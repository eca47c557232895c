// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads limits from attributes of the driver.
#include "sdk/stream/limits.hpp"

#include <algorithm>

namespace tenon::sdk {

uint32_t most_workgroups(const StreamLimits& limits, int axis) {
  if (limits.axis_threads == 0) return limits.grid[axis];
  const uint64_t most = limits.axis_threads / std::max(limits.workgroup[axis], 1u);
  return static_cast<uint32_t>(std::min<uint64_t>(limits.grid[axis], most));
}

StreamLimits read_limits(const StreamAttributes& attributes, const StreamLimits& otherwise,
                         const std::function<int(int)>& ask) {
  StreamLimits limits = otherwise;
  const auto read = [&](int attribute, auto& to) {
    const int value = ask(attribute);
    if (value > 0) to = static_cast<uint32_t>(value);
  };
  read(attributes.threads, limits.workgroup_threads);
  for (int axis = 0; axis < 3; ++axis) {
    read(attributes.block + axis, limits.workgroup[axis]);
    read(attributes.grid + axis, limits.grid[axis]);
  }
  read(attributes.shared_bytes, limits.shared_bytes);
  read(attributes.subgroup, limits.subgroup);
  read(attributes.compute_units, limits.compute_units);
  read(attributes.l2_bytes, limits.l2_bytes);
  return limits;
}

}  // namespace tenon::sdk
