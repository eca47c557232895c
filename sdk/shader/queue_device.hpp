// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device whose driver has a queue in order and takes commands one by one, on handles and offsets,
// as OpenCL's does. Submissions, checks, waits, timelines and fills of any pattern are done here.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <span>

#include "sdk/shader/recording_device.hpp"

namespace tenon::sdk {

/// A place in the queue.
class Mark {
 public:
  virtual ~Mark() = default;
  /// Whether all before it has ended. What it throws fails all work that has not ended, and loses
  /// the device: nothing more is to be done for that.
  virtual bool is_reached() = 0;
  /// Returns when it is reached or never will be.
  virtual void wait() = 0;
};

/// Derive and implement what follows; one thread at a time calls the functions that enqueue, so a
/// kernel's arguments may be set in it. An executable is the backend's own class: cast it. The
/// destructor of what derives begins with close(), while its queue still works. An error of a
/// command that the driver can tell fails the signals of its submission; one that it finds later,
/// at a mark, is the device's, which is lost (TN_ERROR_DEVICE_LOST from then on).
class QueueDevice : public RecordingDevice {
 public:
  /// One for each BUFFER and SCALAR param, in their order.
  struct Argument {
    Range buffer;                       ///< without memory where there are no bytes
    std::span<const std::byte> scalar;  ///< as wide as the dtype; empty for a buffer
  };
  struct Launch {
    const ShaderExecutable& executable;
    std::span<const Argument> arguments;
    const uint32_t (&grid)[3];  ///< without a zero
  };

 protected:
  // Each enqueues a command, checked and not empty. One call at a time. What they throw fails the
  // signals of the submission.
  virtual void launch(const Launch& launch) = 0;
  virtual void copy(const Range& to, const Range& from) = 0;
  /// Offset and size are multiples of 4.
  virtual void fill_words(const Range& to, uint32_t word) = 0;
  /// Any offset. The bytes stay until the next mark is reached.
  virtual void write(const Range& to, std::span<const std::byte> bytes) = 0;
  /// Behind all that was enqueued; begins to run it.
  virtual std::unique_ptr<Mark> mark() = 0;
  /// Returns when nothing runs, lost or not.
  virtual void drain() noexcept = 0;

  /// For the destructor of what derives.
  void close() {
    RecordingDevice::close([this] { drain(); });
  }

 private:
  class Commands;
  std::unique_ptr<Recorder> make_recorder() final;
  void hand_over(Recorder& recorder, uint64_t number, uint64_t after) final;
  uint64_t last_ended() final;
  void wait_for(uint64_t number) final;

  struct Running {
    uint64_t number;
    std::shared_ptr<Mark> mark;
  };
  std::mutex mutex_;  ///< of what follows
  std::deque<Running> running_;
  uint64_t ended_ = 0;
};

}  // namespace tenon::sdk
