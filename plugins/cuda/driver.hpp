// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libcuda, opened at run time. Nothing of a CUDA toolkit is needed to build: the functions are
// declared here, from "CUDA Driver API Reference Manual".
#pragma once

#include <array>
#include <atomic>

#include "sdk/stream/vendor.hpp"

namespace tenon::cuda {

struct Context;

/// Functions that HIP lacks.
struct DriverFunctions {
  int (*context_retain)(Context** out, int device);
  int (*context_release)(int device);
  int (*context_push)(Context*);
  int (*context_pop)(Context** out);
  int (*enable_peer)(Context*, unsigned flags);
  int (*copy)(uint64_t to, uint64_t from, size_t size, sdk::ApiStream*);
  int (*error_name)(int, const char** out);
  int (*error_text)(int, const char** out);
};

class Driver : public sdk::StreamVendor {
 public:
  /// Throws TN_ERROR_NOT_FOUND with the reason.
  Driver();
  int retain(uint32_t device) override;
  void release(uint32_t device) override;
  int enter(uint32_t device, int& before) override;
  void leave(int before) override;
  int copy(uint64_t to, uint64_t from, size_t size, sdk::ApiStream* stream) override;
  std::string describe(int code) const override;

 protected:
  sdk::StreamAttributes attributes() const override;
  std::string driver_text(int version) const override;
  std::string target(uint32_t device) const override;
  sdk::StreamLimits limits(std::string_view target) const override;
  bool enable_peer(uint32_t device, uint32_t peer) override;

 private:
  static constexpr size_t kMaxDevices = 64;
  DriverFunctions cuda_ = {};
  std::array<std::atomic<Context*>, kMaxDevices> contexts_ = {};  ///< of retained devices
};

}  // namespace tenon::cuda
