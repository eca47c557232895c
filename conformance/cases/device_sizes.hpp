// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of a device that rules go by (core/ir/limits.def), other than it says: caches that a small
// case does not fit, more cores. They decide what is chosen, and never what is right.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "conformance/cases/random.hpp"
#include "core/ir/capabilities.hpp"

namespace tenon::conformance {

using DeviceSizes = std::map<std::string, uint64_t>;

/// Whether it is one of those that are drawn.
bool is_device_size(std::string_view name);
DeviceSizes draw_device_sizes(Random& random, uint64_t percent);  ///< of them
Capabilities with_sizes(Capabilities capabilities, const DeviceSizes& sizes);

}  // namespace tenon::conformance
