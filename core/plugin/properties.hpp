// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts tn_properties to the core's data: checked, with defaults for fields of newer versions.
#pragma once

#include <string>
#include <vector>

#include "core/ir/capabilities.hpp"
#include "tenon/plugin.h"

namespace tenon {

struct DeviceFacts {
  Capabilities capabilities;
  uint32_t flags = 0;  ///< TN_DEVICE_ bits
  std::vector<tn_memory_space> spaces;
};

/// Throws kEnvironment "[properties] cpu:0: expected ..., got ..." for properties that violate the
/// ABI.
DeviceFacts read_properties(const tn_properties* raw, const std::string& who);

}  // namespace tenon
