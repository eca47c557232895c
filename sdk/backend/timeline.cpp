// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A counter with a mutex and a condition variable.
#include "sdk/backend/timeline.hpp"

#include <fmt/format.h>

#include <chrono>

namespace tenon::sdk {

void HostTimeline::wait(uint64_t value, uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  const auto is_over = [&] { return value_ >= value || failure_; };
  // Longer than a century is for ever, and would overflow the clock.
  if (timeout_ns > uint64_t{1} << 61) {
    changed_.wait(lock, is_over);
  } else if (!changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_over)) {
    throw Failure(TN_ERROR_TIMEOUT,
                  fmt::format("timeline_wait: {} not reached, at {}", value, value_));
  }
  if (value_ < value) throw Failure(*failure_);
}

uint64_t HostTimeline::query() {
  const std::lock_guard lock(mutex_);
  if (failure_) throw Failure(*failure_);
  return value_;
}

void HostTimeline::signal(uint64_t value) {
  const std::lock_guard lock(mutex_);
  if (failure_ || value <= value_) return;
  value_ = value;
  changed_.notify_all();  // under the lock: the waiter may destroy the timeline at once
}

void HostTimeline::fail(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = failure;
  changed_.notify_all();
}

std::optional<Failure> HostTimeline::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Failure current_failure() noexcept {
  tn_error error = TN_INIT(tn_error);
  const int32_t code = report_exception(&error);
  return Failure(static_cast<tn_status>(code), error.message, error.vendor_code);
}

}  // namespace tenon::sdk
