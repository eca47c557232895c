// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/shader/recording_device.hpp"

namespace tenon::sdk {

void RecordingDevice::submit(const Submission& submission,
                             const std::shared_ptr<Recorder>& recorder) {
  if (submission.queue() != 0) throw Failure(TN_ERROR_INVALID_ARGUMENT, "submit: expected queue 0");
  recorder->record(submission);
  CountedQueue::submit(submission, [this, recorder](uint64_t number, uint64_t after) {
    require_alive();
    hand_over(*recorder, number, after);
    const std::lock_guard lock(mutex_);
    handed_over_.push_back({number, recorder});
  });
}

std::unique_ptr<Timeline> RecordingDevice::make_timeline(uint64_t value) {
  require_alive();
  return CountedQueue::make_timeline(value);
}

void RecordingDevice::require_alive() const {
  if (is_lost_) throw Failure(TN_ERROR_DEVICE_LOST, "the device was lost");
}

uint64_t RecordingDevice::ended() {
  require_alive();
  return last_ended();
}

std::shared_ptr<Recorder> RecordingDevice::take() {
  const uint64_t done = ended();
  const std::lock_guard lock(mutex_);
  if (handed_over_.empty() || handed_over_.front().number > done) return make_recorder();
  std::shared_ptr<Recorder> recorder = std::move(handed_over_.front().recorder);
  handed_over_.pop_front();
  return recorder;
}

}  // namespace tenon::sdk
