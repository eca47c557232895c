// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/worker/driver_caches.hpp"

#include <cstdlib>

namespace tenon::conformance::worker {

void leave_driver_caches() {
  struct Setting {
    const char *name, *value;
  };
  constexpr Setting kSettings[] = {
      {"MESA_SHADER_CACHE_DISABLE", "true"},  // docs.mesa3d.org/envvars.html
      {"__GL_SHADER_DISK_CACHE", "0"},        // NVIDIA's Vulkan; README of the Linux driver
      {"CUDA_CACHE_DISABLE", "1"},            // CUDA C++ Programming Guide, environment variables
      {"AMD_COMGR_CACHE", "0"},               // README of ROCm's comgr
      {"POCL_KERNEL_CACHE", "0"},             // PoCL's documentation, environment variables
  };
  for (const auto& [name, value] : kSettings) setenv(name, value, /*overwrite=*/0);
}

}  // namespace tenon::conformance::worker
