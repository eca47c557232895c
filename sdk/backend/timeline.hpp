// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A timeline in host memory, for queues of CPU-like plugins.
#pragma once

#include <condition_variable>
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
  /// Raises the value; a lower one has no effect. No effect on a failed timeline.
  void signal(uint64_t value) override;
  /// Current and later waits for values not reached throw `failure`. Only the first failure counts.
  void fail(const Failure& failure);
  std::optional<Failure> failure() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t value_;
  std::optional<Failure> failure_;
};

/// The current exception as a Failure, for timelines. Call inside catch (...).
Failure current_failure() noexcept;

}  // namespace tenon::sdk
