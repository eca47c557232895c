// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An open device of a StreamVendor: its context, reused events, and whether it is lost.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "sdk/stream/event.hpp"
#include "sdk/stream/vendor.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {

/// The status of a driver's code. Errors after which a context cannot be used are
/// TN_ERROR_DEVICE_LOST. Source: CUresult in the CUDA Driver API reference; hipError_t has the same
/// numbers.
tn_status stream_status(int code);

/// Lives as long as any object that refers to it, perhaps longer than the device: a timeline of
/// another device may hold an event.
class StreamContext : public std::enable_shared_from_this<StreamContext> {
 public:
  /// Throws Failure if the driver does not open the device.
  static std::shared_ptr<StreamContext> open(StreamVendor& vendor, uint32_t device);
  ~StreamContext();
  StreamContext(const StreamContext&) = delete;
  StreamContext& operator=(const StreamContext&) = delete;

  StreamVendor& vendor() const { return vendor_; }
  const StreamApi& api() const { return vendor_.api(); }
  uint32_t device() const { return device_; }

  /// Makes the device current in the calling thread while the result lives. Throws the failure of a
  /// lost device.
  ActiveDevice activate();
  /// The same for destruction, also of a lost device. The result is false if the driver refuses.
  ActiveDevice activate_to_destroy() noexcept { return {vendor_, device_}; }
  /// Throws Failure unless the code is 0. `what` names the operation, as "launch".
  void check(int code, const char* what);
  std::optional<Failure> lost() const;
  void lose(const Failure& failure);

 private:
  friend class StreamEvent;
  StreamContext(StreamVendor& vendor, uint32_t device) : vendor_(vendor), device_(device) {}

  StreamVendor& vendor_;
  const uint32_t device_;
  std::atomic<bool> is_lost_ = false;
  mutable std::mutex mutex_;
  std::optional<Failure> failure_;  ///< of a lost device
  std::vector<ApiEvent*> idle_;     ///< events for reuse
  size_t events_ = 0;               ///< number of events, idle or not
};

/// An event of the context, returned to it by the destructor.
class StreamEvent : public Event {
 public:
  explicit StreamEvent(std::shared_ptr<StreamContext> context);
  ~StreamEvent() override;
  StreamEvent(const StreamEvent&) = delete;
  StreamEvent& operator=(const StreamEvent&) = delete;

  StreamContext& context() const { return *context_; }
  ApiEvent* handle() const { return handle_; }
  void record(ApiStream* stream);
  bool is_reached() const override;
  void synchronize() const override;
  const void* queue() const override { return context_.get(); }

 private:
  std::shared_ptr<StreamContext> context_;
  ApiEvent* handle_ = nullptr;
};

}  // namespace tenon::sdk
