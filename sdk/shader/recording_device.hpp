// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device of one queue, to which recordings are handed over; each recorder is used again when what
// it recorded has ended.
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
  /// Records now, in any number of threads at once, and hands over when its waits allow. Throws
  /// what Recorder::record throws; then nothing of the submission runs.
  void submit(const Submission& submission) override { submit(submission, take()); }
  std::unique_ptr<Timeline> make_timeline(uint64_t value) override;

  /// The device is lost, and stays so.
  void lose() { is_lost_ = true; }
  /// Throws TN_ERROR_DEVICE_LOST after lose().
  void require_alive() const;

 protected:
  /// The same, with a recorder of take().
  void submit(const Submission& submission, const std::shared_ptr<Recorder>& recorder);
  /// One whose last recording has ended, or that is new.
  std::shared_ptr<Recorder> take();
  virtual std::unique_ptr<Recorder> make_recorder() = 0;
  /// As CountedQueue::Start; not called when the device is lost. When this throws, what was
  /// recorded has ended or never begins.
  virtual void hand_over(Recorder& recorder, uint64_t number, uint64_t after) = 0;
  /// Number of the last submission that has ended.
  virtual uint64_t last_ended() = 0;
  /// Returns when that submission has ended.
  void wait_for(uint64_t number) override = 0;

  /// For the destructor of what derives: what has not started never will, `wait_idle` waits for the
  /// rest, lost or not, and the recorders are destroyed.
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
