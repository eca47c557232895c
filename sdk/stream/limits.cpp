// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes to limits.
#include "sdk/stream/limits.hpp"

namespace tenon::sdk {

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
