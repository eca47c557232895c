// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Timelines for a driver with one counter for each queue. Submissions are numbered when they are
// given to the device, and the counter tells which have ended. Unlike semaphores of drivers, values
// of timelines may jump and failures propagate.
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
  /// Waits until that submission has ended.
  virtual void wait_for(uint64_t number) = 0;

  /// Its functions throw the failure of a lost device.
  std::unique_ptr<Timeline> make_timeline(uint64_t value);

  /// Hands a submission to the device, as `number`, after submission number `after` (0: none).
  using Start = std::function<void(uint64_t number, uint64_t after)>;
  /// Calls `start` when every wait is reached or promised, one call at a time, with ascending
  /// numbers. If it throws, the signals fail. Throws TN_ERROR_INVALID_ARGUMENT for timelines of
  /// another queue.
  void submit(const Submission& submission, Start start);

 protected:
  /// Call before the device is destroyed: drops submissions that have not started.
  void close() { scheduler_.drop(this); }

 private:
  StreamPoint point(const tn_point& from) const;

  StreamScheduler scheduler_;
  std::mutex mutex_;
  uint64_t last_ = 0;
};

}  // namespace tenon::sdk
