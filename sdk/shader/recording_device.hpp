// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device with one queue that executes recordings. A recorder is reused when its recording has
// ended.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

#include "sdk/shader/recorder.hpp"
#include "sdk/stream/counted_queue.hpp"

namespace tenon::sdk {

class RecordingDevice : public Device, private CountedQueue {
 public:
  /// Records at once, thread-safe, and hands over when the waits are reached. Throws what
  /// Recorder::record throws; then nothing of the submission runs.
  void submit(const Submission& submission) override { submit(submission, take()); }
  std::unique_ptr<Timeline> make_timeline(uint64_t value) override;

  /// Marks the device as lost.
  void lose() { is_lost_ = true; }
  /// Throws TN_ERROR_DEVICE_LOST after lose().
  void require_alive() const;

 protected:
  /// The same with a recorder from take().
  void submit(const Submission& submission, const std::shared_ptr<Recorder>& recorder);
  /// A recorder whose last recording has ended, or a new one.
  std::shared_ptr<Recorder> take();
  virtual std::unique_ptr<Recorder> make_recorder() = 0;
  /// Submits a recording, as CountedQueue::Start. Not called on a lost device. If it throws, the
  /// recording must have ended or must never begin.
  virtual void hand_over(Recorder& recorder, uint64_t number, uint64_t after) = 0;
  /// Number of the last submission that has ended.
  virtual uint64_t last_ended() = 0;
  /// Waits until that submission has ended.
  void wait_for(uint64_t number) override = 0;

  /// For destructors of derived classes. Drops work that has not started, calls `wait_idle`, which
  /// waits for the rest, lost or not, and destroys the recorders.
  template <class Wait>
  void close(const Wait& wait_idle) {
    CountedQueue::close();
    wait_idle();
    handed_over_.clear();
  }

 private:
  struct HandedOver {
    uint64_t number;
    std::shared_ptr<Recorder> recorder;
  };
  uint64_t ended() final;

  std::atomic<bool> is_lost_ = false;
  std::mutex mutex_;
  std::deque<HandedOver> handed_over_;
};

}  // namespace tenon::sdk
