// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVRTC and hiprtc for tests, which need no device.
#pragma once

#include <string>
#include <vector>

#include "sdk/stream/compiler.hpp"

namespace tenon::sdk {

/// Both throw Failure(TN_ERROR_NOT_FOUND) with the reason where it is not installed.
RuntimeCompiler open_nvrtc();
RuntimeCompiler open_hiprtc();
/// What the plugins compile with; the target is as "sm_80" or "gfx90a".
std::vector<std::string> cuda_options(const std::string& target);
std::vector<std::string> hip_options(const std::string& target);

}  // namespace tenon::sdk
