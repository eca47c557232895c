// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helper functions of CUDA sources; those with an asm statement are one PTX instruction each.
#pragma once

#include <span>

#include "sdk/render/gpu_prelude.hpp"

namespace tenon::sdk {

std::span<const GpuHelper> cuda_helpers();

}  // namespace tenon::sdk
