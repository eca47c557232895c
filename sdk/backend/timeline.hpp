// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A timeline in host memory: what queues of CPU-like plugins wait on and raise.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "sdk/backend/backend.hpp"

namespace tenon::sdk {

class HostTimeline : public Timeline {
 public:
  explicit HostTimeline(uint64_t value) : value_(value) {}

  void wait(uint64_t value, uint64_t timeout_ns) override;
  /// Throws the failure of a failed timeline.
  uint64_t query() override;
  /// Values only grow; a lower one changes nothing. No effect on a failed timeline.
  void signal(uint64_t value) override;
  /// Every wait that has not been reached, now and later, throws `failure`. The first failure
  /// stays.
  void fail(const Failure& failure);
  std::optional<Failure> failure() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t value_;
  std::optional<Failure> failure_;
};

/// The exception in flight as a Failure, to be put into timelines: call inside a catch (...).
Failure current_failure() noexcept;

}  // namespace tenon::sdk
