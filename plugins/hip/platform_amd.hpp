// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the compiler and driver of AMD's platform.
#pragma once

#include <initializer_list>
#include <memory>

#include "plugins/hip/driver.hpp"
#include "sdk/backend/shared_library.hpp"

namespace tenon::hip {

/// Throws TN_ERROR_NOT_FOUND with the reason.
std::unique_ptr<sdk::StreamCompiler> open_hiprtc();
sdk::StreamLimits amd_limits(std::string_view architecture);
/// Names of a ROCm library: by the rules of the loader, then below ROCM_PATH and /opt/rocm.
std::vector<std::string> library_versions(const char* name,
                                          std::initializer_list<const char*> suffixes);

}  // namespace tenon::hip
