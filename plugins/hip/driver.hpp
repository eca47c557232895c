// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HIP's runtime. Its functions are declared here, so that no ROCm is needed to build; platform.hpp
// says where they come from.
#pragma once

#include "sdk/stream/vendor.hpp"

namespace tenon::hip {

/// What is HIP's alone. Devices are ordinals.
struct HipFunctions {
  int (*set_device)(int device);
  int (*enable_peer)(int peer, unsigned flags);
  int (*copy)(uint64_t to, uint64_t from, size_t size, int kind, sdk::ApiStream*);
  const char* (*error_name)(int);
  const char* (*error_text)(int);
  /// Fills a struct whose layout differs between versions; null on NVIDIA's platform.
  int (*properties)(void* out, int device);
};

class Driver : public sdk::StreamVendor {
 public:
  /// Throws TN_ERROR_NOT_FOUND with the reason.
  Driver();
  int retain(uint32_t device) override { return activate(device); }
  void release(uint32_t) override {}  // HIP keeps its contexts by itself
  int activate(uint32_t device) override;
  int copy(uint64_t to, uint64_t from, size_t size, sdk::ApiStream* stream) override;
  std::string describe(int code) const override;

 protected:
  sdk::StreamAttributes attributes() const override;
  std::string driver_text(int version) const override { return "HIP " + std::to_string(version); }
  std::string target(uint32_t device) const override;
  sdk::StreamLimits limits(std::string_view target) const override;
  bool enable_peer(uint32_t device, uint32_t peer) override;

 private:
  HipFunctions hip_ = {};
};

}  // namespace tenon::hip
