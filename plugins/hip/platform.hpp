// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a HIP platform is: AMD's, or with the build option TENON_HIP_NVIDIA the mapping to CUDA in
// HIP's own headers. Either platform_amd.cpp and compiler_amd.cpp are built, or
// platform_nvidia.cpp.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "plugins/hip/driver.hpp"
#include "sdk/stream/backend.hpp"

namespace tenon::hip {

/// Fills both tables. Throws TN_ERROR_NOT_FOUND with the reason.
void bind(sdk::StreamApi& api, HipFunctions& hip);
/// What code for a device is compiled for, as "gfx90a:sramecc+:xnack-".
std::string device_target(const sdk::StreamApi& api, const HipFunctions& hip, int device);
/// Of a target that is not there; a device says its own.
sdk::StreamLimits platform_limits(std::string_view target);
std::unique_ptr<sdk::StreamCompiler> open_compiler();
const sdk::Dialect& platform_dialect();
std::span<const tn_matrix_atom> platform_atoms(std::string_view target);

}  // namespace tenon::hip
