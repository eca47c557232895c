// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Timelines whose values are raised by events of a queue, or by the host; and the submissions that
// wait for values nobody has promised yet.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "sdk/backend/backend.hpp"
#include "sdk/stream/event.hpp"

namespace tenon::sdk {

class StreamState;
using EventList = std::vector<std::shared_ptr<const Event>>;

struct StreamPoint {
  std::shared_ptr<StreamState> state;
  uint64_t value = 0;
};

/// What a timeline is, shared with the submissions that wait for it or raise it.
class StreamState {
 public:
  explicit StreamState(uint64_t value) : value_(value) {}

  /// Where a value stands: reached, promised by an event that was recorded, or neither.
  struct Standing {
    bool is_reached = false;
    std::shared_ptr<const Event> event;
    std::optional<Failure> failure;  ///< the value will never come
  };
  Standing standing(uint64_t value);

  /// `value` is reached when the event is; it fails if by then a device of `after`, events of
  /// other devices that it waited for, is lost. Of no effect on a failed
  /// timeline.
  void promise(uint64_t value, std::shared_ptr<const Event> event, EventList after);
  void raise(uint64_t value);
  void fail(const Failure& failure);
  /// Throws the failure of the timeline, or TN_ERROR_TIMEOUT. A failure shows when all that was
  /// promised before it has ended, so that memory can be freed then.
  void wait(uint64_t value, uint64_t timeout_ns);
  uint64_t query();

 private:
  struct Pending {
    uint64_t value;
    std::shared_ptr<const Event> event;
    EventList after;
  };
  void settle();

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t value_;
  std::deque<Pending> pending_;
  std::optional<Failure> failure_;
};

/// Starts each submission when its waits are reached or promised: at once, or in the call that
/// promises the last of them. So it needs no thread of its own. One a backend: its devices may wait
/// for each other.
class StreamScheduler {
 public:
  struct Work {
    const void* owner = nullptr;  ///< the device
    std::vector<StreamPoint> waits, signals;
    /// Queues the commands after the events of `waits`, and promises the signals.
    std::function<void(const Work&)> start;
  };
  /// What `start` throws fails the signals; it reaches the caller where there are none.
  void submit(Work work);
  /// A timeline changed: starts what that makes ready.
  void look();
  /// The device closes: what has not started fails.
  void drop(const void* owner);

 private:
  bool try_start(const Work& work);
  void look_locked();

  std::mutex mutex_;
  std::list<Work> waiting_;
};

class StreamTimeline : public Timeline {
 public:
  StreamTimeline(StreamScheduler& scheduler, uint64_t value)
      : scheduler_(scheduler), state_(std::make_shared<StreamState>(value)) {}
  void wait(uint64_t value, uint64_t timeout_ns) override;
  uint64_t query() override;
  void signal(uint64_t value) override;
  const std::shared_ptr<StreamState>& state() const { return state_; }

 private:
  StreamScheduler& scheduler_;
  std::shared_ptr<StreamState> state_;
};

}  // namespace tenon::sdk
