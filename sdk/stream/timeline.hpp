// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Timelines whose values are raised by events of a queue or by the host, and a scheduler for
// submissions that wait for values not yet promised.
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

/// State of a timeline, shared with submissions that wait for it or raise it.
class StreamState {
 public:
  explicit StreamState(uint64_t value) : value_(value) {}

  /// State of a value: reached, promised by a recorded event, or neither.
  struct ValueState {
    bool is_reached = false;
    std::shared_ptr<const Event> event;
    std::optional<Failure> failure;  ///< the value will never come
  };
  ValueState state_of(uint64_t value);

  /// Promises that `value` is reached when the event is. It fails if a device of an event in
  /// `after`, the events of other devices that it waited for, is lost by then. No effect on a
  /// failed timeline.
  void promise(uint64_t value, std::shared_ptr<const Event> event, EventList after);
  void raise(uint64_t value);
  void fail(const Failure& failure);
  /// Throws the failure of the timeline, or TN_ERROR_TIMEOUT. Throws a failure only after earlier
  /// promises have ended, so that memory can be freed then.
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
/// promises the last one. So it needs no thread. One for each backend, as its devices may wait for
/// each other.
class StreamScheduler {
 public:
  struct Work {
    const void* owner = nullptr;  ///< the device
    std::vector<StreamPoint> waits, signals;
    /// Queues the commands after the events of `waits`, and promises the signals.
    std::function<void(const Work&)> start;
  };
  /// If `start` throws, the signals fail; without signals the caller gets the exception.
  void submit(Work work);
  /// Starts submissions that became ready. Call it after a timeline changed.
  void start_ready();
  /// Fails submissions of a closing device that have not started.
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
