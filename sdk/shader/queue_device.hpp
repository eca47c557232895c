// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device whose driver has an in-order queue and takes single commands with handles and offsets,
// as OpenCL does. Implements submissions, checks, waits, timelines, and fills of any pattern.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <span>

#include "sdk/shader/recording_device.hpp"

namespace tenon::sdk {

/// A position in the queue.
class Mark {
 public:
  virtual ~Mark() = default;
  /// Whether all earlier work has ended. If it throws, all unfinished work fails and the device is
  /// lost.
  virtual bool is_reached() = 0;
  /// Waits until it is reached or never will be.
  virtual void wait() = 0;
};

/// Derive and implement the virtual functions. One thread at a time enqueues, so it may set
/// arguments of a kernel object. Cast executables to the class of the backend. The destructor of a
/// derived class must first call close(), while its queue still works. An error when enqueuing
/// fails the signals of the submission. An error found later, at a mark, loses the device
/// (TN_ERROR_DEVICE_LOST from then on).
class QueueDevice : public RecordingDevice {
 public:
  /// One for each BUFFER and SCALAR param, in order.
  struct Argument {
    Range buffer;                       ///< no memory if it has no bytes
    std::span<const std::byte> scalar;  ///< as wide as the dtype; empty for a buffer
  };
  struct Launch {
    const ShaderExecutable& executable;
    std::span<const Argument> arguments;
    const uint32_t (&grid)[3];  ///< without a zero
  };

 protected:
  // Each enqueues a checked, non-empty command. One call at a time. If it throws, the signals of
  // the submission fail.
  virtual void launch(const Launch& launch) = 0;
  virtual void copy(const Range& to, const Range& from) = 0;
  /// Offset and size are multiples of 4.
  virtual void fill_words(const Range& to, uint32_t word) = 0;
  /// Any offset. The bytes stay valid until the next mark is reached.
  virtual void write(const Range& to, std::span<const std::byte> bytes) = 0;
  /// Adds a mark after all enqueued commands, and starts them.
  virtual std::unique_ptr<Mark> mark() = 0;
  /// Waits until nothing runs, also on a lost device.
  virtual void drain() noexcept = 0;

  /// For destructors of derived classes.
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
  std::mutex mutex_;  ///< guards the members below
  std::deque<Running> running_;
  uint64_t ended_ = 0;
};

}  // namespace tenon::sdk
