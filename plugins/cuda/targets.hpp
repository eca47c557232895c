// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compute capabilities by name, and their limits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sdk/stream/limits.hpp"

namespace tenon::cuda {

struct Architecture {
  int capability;  ///< 90 for 9.0
  char suffix;     ///< 'a' or 'f' for code that runs on this one or its family alone; else 0
};

/// Parses "sm_80", "sm_90a", "sm_120f". Empty for other text.
std::optional<Architecture> parse_target(std::string_view name);
/// The compile target of a device: "sm_80"; "sm_90a" for 9.0, as its own instructions need it.
std::string device_target(const Architecture& architecture);
/// Limits from the table "Technical Specifications per Compute Capability" in the CUDA C++
/// Programming Guide.
sdk::StreamLimits limits_of(const Architecture& architecture);

}  // namespace tenon::cuda
