// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HIP's runtime. Its functions are declared here, so that no ROCm is needed to build. They come
// from the platform: AMD's, or with the build option TENON_HIP_NVIDIA the mapping to CUDA in HIP's
// own headers. One of platform_amd.cpp and platform_nvidia.cpp is built.
#pragma once

#include "sdk/stream/backend.hpp"

namespace tenon::hip {

/// Functions that CUDA lacks. Devices are ordinals.
struct HipFunctions {
  int (*set_device)(int device);
  int (*get_device)(int* out);
  int (*enable_peer)(int peer, unsigned flags);
  int (*copy)(uint64_t to, uint64_t from, size_t size, int kind, sdk::ApiStream*);
  const char* (*error_name)(int);
  const char* (*error_text)(int);
  /// Fills a struct whose layout depends on the version; null on NVIDIA's platform.
  int (*properties)(void* out, int device);
};

class Driver : public sdk::StreamVendor {
 public:
  /// Throws TN_ERROR_NOT_FOUND with the reason.
  Driver() { bind(); }
  int retain(uint32_t device) override { return sdk::ActiveDevice(*this, device).code(); }
  void release(uint32_t) override {}  // HIP manages contexts by itself
  int enter(uint32_t device, int& before) override;
  void leave(int before) override { hip_.set_device(before); }
  int copy(uint64_t to, uint64_t from, size_t size, sdk::ApiStream* stream) override;
  std::string describe(int code) const override;

 protected:
  sdk::StreamAttributes attributes() const override;
  std::string driver_text(int version) const override { return "HIP " + std::to_string(version); }
  std::string target(uint32_t device) const override;                // by the platform
  sdk::StreamLimits limits(std::string_view target) const override;  // by the platform
  bool enable_peer(uint32_t device, uint32_t peer) override;

 private:
  void bind();  // by the platform
  HipFunctions hip_ = {};
};

/// The platform.
const sdk::StreamPlatform& platform();

}  // namespace tenon::hip
