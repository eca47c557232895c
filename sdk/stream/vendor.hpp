// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver: its table of functions, what differs from the other one, and its devices.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sdk/stream/api.hpp"
#include "sdk/stream/limits.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

/// What a driver says of a device.
struct StreamDeviceFacts {
  tn_device_info info = TN_INIT(tn_device_info);
  std::string bus_id;    ///< "0000:17:00.0": devices are in its order
  uint32_t ordinal = 0;  ///< the driver's number
  StreamLimits limits;
};

class StreamVendor;

/// While it lives, a device is the calling thread's; then again what was it before. A thread that
/// calls a plugin may be in the middle of work of its own on another device.
class [[nodiscard]] ActiveDevice {
 public:
  ActiveDevice(StreamVendor& vendor, uint32_t device);
  ~ActiveDevice();
  ActiveDevice(ActiveDevice&& other) noexcept
      : vendor_(other.vendor_), before_(other.before_), code_(std::exchange(other.code_, -1)) {}
  ActiveDevice& operator=(ActiveDevice&&) = delete;
  int code() const { return code_; }  ///< of the driver, 0 for success
  explicit operator bool() const { return code_ == 0; }

 private:
  StreamVendor& vendor_;
  int before_ = 0;
  int code_;
};

/// One object a process, which outlives all that uses it; its functions are called from any thread.
class StreamVendor {
 public:
  virtual ~StreamVendor() = default;
  const StreamApi& api() const { return api_; }
  /// In the order of their bus ids. Throws TN_ERROR_NOT_FOUND where the driver does not start.
  std::vector<StreamDeviceFacts> devices() const;
  /// As the driver gives it, 12040 for CUDA 12.4. Throws as devices() does.
  int version() const;
  /// Stream-ordered allocation is there.
  bool has_memory_pools(uint32_t device) const;
  /// Lets `device`, which is active, reach the memory of `peer`; false if it cannot.
  bool reach_peer(uint32_t device, uint32_t peer);

  /// Keeps the device's context alive until the matching release.
  virtual int retain(uint32_t device) = 0;
  virtual void release(uint32_t device) = 0;
  /// Makes a retained device the calling thread's; leave() makes what was it before so again, with
  /// what enter() said in `before`. Pairs nest.
  virtual int enter(uint32_t device, int& before) = 0;
  virtual void leave(int before) = 0;
  /// Between any two addresses, of the host or of devices.
  virtual int copy(uint64_t to, uint64_t from, size_t size, ApiStream* stream) = 0;
  /// As "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
  virtual std::string describe(int code) const = 0;

 protected:
  /// Numbers of attributes.
  virtual StreamAttributes attributes() const = 0;
  /// As "CUDA driver 13.0".
  virtual std::string driver_text(int version) const = 0;
  /// What code for a device is compiled for.
  virtual std::string target(uint32_t device) const = 0;
  /// Where the driver does not say.
  virtual StreamLimits limits(std::string_view target) const = 0;
  virtual bool enable_peer(uint32_t device, uint32_t peer) = 0;

  /// 0 if the driver does not say.
  int attribute(int attribute, uint32_t device) const;
  /// Throws TN_ERROR_NOT_FOUND unless the code is 0.
  void check(int code, const char* what) const;

  StreamApi api_ = {};

 private:
  /// Memory that a peer allocated in stream order is not reached as its other memory is.
  bool reach_pool(uint32_t device, uint32_t peer) const;
  StreamDeviceFacts facts(uint32_t device, const std::string& driver) const;
};

}  // namespace tenon::sdk
