// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Timelines for a driver that has one counter a queue: submissions are numbered when the device
// gets them, and the counter says which have ended. Values of the timelines may jump, and failures
// travel, which a driver's own semaphores do not allow.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "sdk/backend/submission.hpp"
#include "sdk/stream/timeline.hpp"

namespace tenon::sdk {

class CountedQueue {
 public:
  CountedQueue() = default;
  virtual ~CountedQueue() = default;
  CountedQueue(const CountedQueue&) = delete;
  CountedQueue& operator=(const CountedQueue&) = delete;

  /// Number of the last submission that has ended. Throws the failure of a lost device.
  virtual uint64_t ended() = 0;
  /// Returns when that submission has ended.
  virtual void wait_for(uint64_t number) = 0;

  /// Its functions throw the failure of a lost device.
  std::unique_ptr<Timeline> make_timeline(uint64_t value);

  /// Hands a submission to the device, as `number`, after submission number `after` (0: none).
  using Start = std::function<void(uint64_t number, uint64_t after)>;
  /// Calls `start` once every wait is reached or sure to be, one at a time, numbers ascending;
  /// what it throws fails the signals. Throws TN_ERROR_INVALID_ARGUMENT for the timelines of
  /// another queue.
  void submit(const Submission& submission, Start start);

 protected:
  /// To be called before the device goes: what has not started never will.
  void close() { scheduler_.drop(this); }

 private:
  StreamPoint point(const tn_point& from) const;

  StreamScheduler scheduler_;
  std::mutex mutex_;
  uint64_t last_ = 0;
};

}  // namespace tenon::sdk
