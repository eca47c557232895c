// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/stream/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace tenon::sdk {
namespace {

constexpr std::chrono::microseconds kSpinTime{50};  ///< about the time to wake a thread

// The device is lost after errors that leave "the process in an inconsistent state" (cuda.h), that
// destroyed the context, or that are UNKNOWN: later work may be wrong.
struct Status {
  int code;
  tn_status status;
};
constexpr Status kStatuses[] = {
    {1, TN_ERROR_INVALID_ARGUMENT},  // INVALID_VALUE
    {2, TN_ERROR_OUT_OF_MEMORY},     // OUT_OF_MEMORY
    {4, TN_ERROR_DEVICE_LOST},       // DEINITIALIZED
    {46, TN_ERROR_DEVICE_LOST},      // DEVICE_UNAVAILABLE
    {100, TN_ERROR_NOT_FOUND},       // NO_DEVICE
    {101, TN_ERROR_NOT_FOUND},       // INVALID_DEVICE
    {200, TN_ERROR_INCOMPATIBLE},    // INVALID_IMAGE
    {201, TN_ERROR_DEVICE_LOST},     // INVALID_CONTEXT: somebody destroyed it
    {209, TN_ERROR_INCOMPATIBLE},    // NO_BINARY_FOR_GPU
    {214, TN_ERROR_DEVICE_LOST},     // ECC_UNCORRECTABLE
    {218, TN_ERROR_INCOMPATIBLE},    // INVALID_PTX
    {220, TN_ERROR_DEVICE_LOST},     // NVLINK_UNCORRECTABLE
    {221, TN_ERROR_INCOMPATIBLE},    // JIT_COMPILER_NOT_FOUND
    {222, TN_ERROR_INCOMPATIBLE},    // UNSUPPORTED_PTX_VERSION
    {223, TN_ERROR_INCOMPATIBLE},    // JIT_COMPILATION_DISABLED
    {226, TN_ERROR_DEVICE_LOST},     // CONTAINED
    {500, TN_ERROR_NOT_FOUND},       // NOT_FOUND
    {700, TN_ERROR_DEVICE_LOST},     // ILLEGAL_ADDRESS
    {702, TN_ERROR_DEVICE_LOST},     // LAUNCH_TIMEOUT
    {709, TN_ERROR_DEVICE_LOST},     // CONTEXT_IS_DESTROYED
    {710, TN_ERROR_DEVICE_LOST},     // ASSERT
    {712, TN_ERROR_UNSUPPORTED},     // HOST_MEMORY_ALREADY_REGISTERED
    {714, TN_ERROR_DEVICE_LOST},     // HARDWARE_STACK_ERROR
    {715, TN_ERROR_DEVICE_LOST},     // ILLEGAL_INSTRUCTION
    {716, TN_ERROR_DEVICE_LOST},     // MISALIGNED_ADDRESS
    {717, TN_ERROR_DEVICE_LOST},     // INVALID_ADDRESS_SPACE
    {718, TN_ERROR_DEVICE_LOST},     // INVALID_PC
    {719, TN_ERROR_DEVICE_LOST},     // LAUNCH_FAILED
    {721, TN_ERROR_DEVICE_LOST},     // TENSOR_MEMORY_LEAK
    {801, TN_ERROR_UNSUPPORTED},     // NOT_SUPPORTED
    {810, TN_ERROR_DEVICE_LOST},     // MPS_CLIENT_TERMINATED
    {911, TN_ERROR_DEVICE_LOST},     // EXTERNAL_DEVICE
    {999, TN_ERROR_DEVICE_LOST},     // UNKNOWN
};

}  // namespace

tn_status stream_status(int code) {
  const auto* row = std::ranges::find(kStatuses, code, &Status::code);
  return row != std::end(kStatuses) ? row->status : TN_ERROR_INTERNAL;
}

std::shared_ptr<StreamContext> StreamContext::open(StreamVendor& vendor, uint32_t device) {
  const int code = vendor.retain(device);
  if (code != 0) {
    throw Failure(stream_status(code), fmt::format("device_open: {}", vendor.describe(code)), code);
  }
  return std::shared_ptr<StreamContext>(new StreamContext(vendor, device));
}

StreamContext::~StreamContext() {
  if (const ActiveDevice active = activate_to_destroy()) {
    for (ApiEvent* event : idle_) api().event_destroy(event);
  }
  vendor_.release(device_);
}

ActiveDevice StreamContext::activate() {
  if (is_lost_) throw Failure(*lost());
  ActiveDevice active(vendor_, device_);
  check(active.code(), "activate");
  return active;
}

void StreamContext::check(int code, const char* what) {
  if (code == 0) return;
  const tn_status status = stream_status(code);
  const Failure failure(status, fmt::format("{}: {}", what, vendor_.describe(code)), code);
  if (status == TN_ERROR_DEVICE_LOST) lose(failure);
  throw failure;
}

std::optional<Failure> StreamContext::lost() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void StreamContext::lose(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = failure;
  is_lost_ = true;
}

StreamEvent::StreamEvent(std::shared_ptr<StreamContext> context) : context_(std::move(context)) {
  {
    const std::lock_guard lock(context_->mutex_);
    if (!context_->idle_.empty()) {
      handle_ = context_->idle_.back();
      context_->idle_.pop_back();
    }
  }
  if (handle_) return;
  context_->check(
      context_->api().event_create(&handle_, kApiEventBlockingSync | kApiEventDisableTiming),
      "event");
  const std::lock_guard lock(context_->mutex_);
  context_->idle_.reserve(++context_->events_);  // so that returning an event cannot fail
}

StreamEvent::~StreamEvent() {
  const std::lock_guard lock(context_->mutex_);
  context_->idle_.push_back(handle_);
}

void StreamEvent::record(ApiStream* stream) {
  context_->check(context_->api().event_record(handle_, stream), "record");
}

bool StreamEvent::is_reached() const {
  const ActiveDevice active = context_->activate();
  const int code = context_->api().event_query(handle_);
  if (code == kApiNotReady) return false;
  // A failed query does not mean that the work has ended, and callers free memory after it.
  if (code != 0) synchronize();
  return true;
}

void StreamEvent::synchronize() const {
  const ActiveDevice active = context_->activate();
  // Spin for a short time, then block.
  const auto soon = std::chrono::steady_clock::now() + kSpinTime;
  int code = kApiNotReady;
  while (code == kApiNotReady && std::chrono::steady_clock::now() < soon)
    code = context_->api().event_query(handle_);
  if (code == 0) return;
  context_->check(context_->api().event_synchronize(handle_), "wait");
}

}  // namespace tenon::sdk
