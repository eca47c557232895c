// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything that a plugin says of itself and of a device.
#pragma once

#include <string>

#include "core/device/device.hpp"

namespace tenon::conformance::judge {

/// As one JSON object, in the ABI's words.
std::string declared_properties(const Device& device);

}  // namespace tenon::conformance::judge
