// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compute capabilities by name, and what each allows.
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

/// "sm_80", "sm_90a", "sm_120f"; nothing for other text.
std::optional<Architecture> parse_target(std::string_view name);
/// What code for a device is compiled for: "sm_80"; "sm_90a" for 9.0, whose own instructions have
/// no other name.
std::string device_target(const Architecture& architecture);
/// Of the table "Technical Specifications per Compute Capability" in the CUDA C++ Programming
/// Guide.
sdk::StreamLimits limits_of(const Architecture& architecture);

}  // namespace tenon::cuda
