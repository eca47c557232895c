// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver: its functions, its differences from the other driver, and its devices.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sdk/stream/api.hpp"
#include "sdk/stream/limits.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

/// Facts about a device from its driver.
struct StreamDeviceFacts {
  tn_device_info info = TN_INIT(tn_device_info);
  std::string bus_id;    ///< "0000:17:00.0"; orders the devices
  uint32_t ordinal = 0;  ///< its number in the driver
  StreamLimits limits;
};

class StreamVendor;

/// Makes a device current in the calling thread, and restores the previous one in its destructor,
/// as the caller of a plugin may use another device.
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

/// One object for each process, which outlives its users. Thread-safe.
class StreamVendor {
 public:
  virtual ~StreamVendor() = default;
  const StreamApi& api() const { return api_; }
  /// Devices ordered by bus id. Throws TN_ERROR_NOT_FOUND if the driver does not start.
  std::vector<StreamDeviceFacts> devices() const;
  /// Version as the driver reports it, 12040 for CUDA 12.4. Throws as devices() does.
  int version() const;
  /// Whether stream-ordered allocation is available.
  bool has_memory_pools(uint32_t device) const;
  /// Enables access of `device`, which must be active, to memory of `peer`. False if impossible.
  bool reach_peer(uint32_t device, uint32_t peer);

  /// Keeps the device's context alive until the matching release.
  virtual int retain(uint32_t device) = 0;
  virtual void release(uint32_t device) = 0;
  /// Makes a retained device current in the calling thread. leave() restores the previous one from
  /// `before`. Pairs nest.
  virtual int enter(uint32_t device, int& before) = 0;
  virtual void leave(int before) = 0;
  /// Between any two addresses, of the host or of devices.
  virtual int copy(uint64_t to, uint64_t from, size_t size, ApiStream* stream) = 0;
  /// As "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
  virtual std::string describe(int code) const = 0;

 protected:
  /// Attribute numbers of the driver.
  virtual StreamAttributes attributes() const = 0;
  /// As "CUDA driver 13.0".
  virtual std::string driver_text(int version) const = 0;
  /// The compile target of a device.
  virtual std::string target(uint32_t device) const = 0;
  /// Limits that the driver does not report.
  virtual StreamLimits limits(std::string_view target) const = 0;
  virtual bool enable_peer(uint32_t device, uint32_t peer) = 0;

  /// The value of an attribute, 0 if unknown.
  int attribute(int attribute, uint32_t device) const;
  /// Throws TN_ERROR_NOT_FOUND unless the code is 0.
  void check(int code, const char* what) const;

  StreamApi api_ = {};

 private:
  /// Enables access to memory pools of a peer, which needs a separate call.
  bool reach_pool(uint32_t device, uint32_t peer) const;
  StreamDeviceFacts facts(uint32_t device, const std::string& driver) const;
};

}  // namespace tenon::sdk
