// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helper functions of HIP sources.
#pragma once

#include <span>

#include "sdk/render/gpu_prelude.hpp"

namespace tenon::sdk {

std::span<const GpuHelper> hip_helpers();

}  // namespace tenon::sdk
