// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps events to values of timelines.
#include "sdk/stream/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "sdk/backend/timeline.hpp"

namespace tenon::sdk {
namespace {

using Clock = std::chrono::steady_clock;

/// Poll interval of waits with a timeout, which drivers lack.
constexpr std::chrono::microseconds kPoll{50};
/// Promises are polled when there are so many, even if nobody waits.
constexpr size_t kManyPending = 256;

/// More than a century counts as no timeout, as it would overflow the clock.
bool is_for_ever(uint64_t timeout_ns) { return timeout_ns > uint64_t{1} << 61; }

}  // namespace

StreamState::ValueState StreamState::state_of(uint64_t value) {
  const std::lock_guard lock(mutex_);
  if (value_ >= value) return {true, nullptr, std::nullopt};
  for (const Pending& pending : pending_) {
    if (pending.value >= value) return {false, pending.event, std::nullopt};
  }
  return {false, nullptr, failure_};
}

void StreamState::promise(uint64_t value, std::shared_ptr<const Event> event, EventList after) {
  const std::lock_guard lock(mutex_);
  if (failure_) return;
  if (pending_.size() >= kManyPending) settle();
  pending_.push_back({value, std::move(event), std::move(after)});
  changed_.notify_all();
}

void StreamState::raise(uint64_t value) {
  const std::lock_guard lock(mutex_);
  if (failure_ || value <= value_) return;
  value_ = value;
  changed_.notify_all();
}

void StreamState::fail(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = failure;
  changed_.notify_all();
}

void StreamState::settle() {
  // Events of one queue are reached in order, so none is reached after the first that is not.
  std::vector<const void*> busy;
  std::erase_if(pending_, [&](const Pending& pending) {
    const void* queue = pending.event->queue();
    if (std::ranges::find(busy, queue) != busy.end()) return false;
    try {
      if (!pending.event->is_reached()) {
        busy.push_back(queue);
        return false;
      }
      for (const auto& event : pending.after) event->is_reached();  // throws if that device is lost
      value_ = std::max(value_, pending.value);
    } catch (const Failure& failure) {
      if (!failure_) failure_ = failure;
    }
    changed_.notify_all();
    return true;
  });
}

void StreamState::wait(uint64_t value, uint64_t timeout_ns) {
  const bool for_ever = is_for_ever(timeout_ns);
  const Clock::time_point deadline =
      Clock::now() + std::chrono::nanoseconds(for_ever ? 0 : timeout_ns);
  std::unique_lock lock(mutex_);
  for (;;) {
    settle();
    if (value_ >= value) return;
    if (failure_ && pending_.empty()) throw Failure(*failure_);
    if (!for_ever && Clock::now() >= deadline) {
      throw Failure(TN_ERROR_TIMEOUT,
                    fmt::format("timeline_wait: {} not reached, at {}", value, value_));
    }
    auto next = std::ranges::find_if(pending_, [&](const Pending& p) { return p.value >= value; });
    if (next == pending_.end() && failure_) next = std::prev(pending_.end());
    if (next == pending_.end()) {
      if (for_ever) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, deadline);
      }
      continue;
    }
    const std::shared_ptr<const Event> event = next->event;
    lock.unlock();
    if (for_ever) {
      try {
        event->synchronize();
      } catch (const Failure&) {
        // The device is lost: settle() finds it so.
      }
    } else {
      std::this_thread::sleep_for(kPoll);
    }
    lock.lock();
  }
}

uint64_t StreamState::query() {
  const std::lock_guard lock(mutex_);
  settle();
  if (failure_ && pending_.empty()) throw Failure(*failure_);
  return value_;
}

bool StreamScheduler::try_start(const Work& work) {
  try {
    for (const StreamPoint& point : work.waits) {
      const StreamState::ValueState state = point.state->state_of(point.value);
      if (state.failure) throw Failure(*state.failure);
      if (!state.is_reached && !state.event) return false;
    }
    work.start(work);
  } catch (...) {
    if (work.signals.empty()) throw;
    const Failure failure = current_failure();
    for (const StreamPoint& point : work.signals) point.state->fail(failure);
  }
  return true;
}

void StreamScheduler::submit(Work work) {
  const std::lock_guard lock(mutex_);
  if (!try_start(work)) {
    waiting_.push_back(std::move(work));
  } else {
    look_locked();
  }
}

void StreamScheduler::start_ready() {
  const std::lock_guard lock(mutex_);
  look_locked();
}

void StreamScheduler::look_locked() {
  const auto is_over = [this](const Work& work) {
    try {
      return try_start(work);
    } catch (const Failure&) {
      return true;  // without signals there is nothing to fail
    }
  };
  while (std::erase_if(waiting_, is_over) > 0) {
  }
}

void StreamScheduler::drop(const void* owner) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Work& work) {
    if (work.owner != owner) return false;
    const Failure failure(TN_ERROR_DEVICE_LOST, "submit: the device was closed before its turn");
    for (const StreamPoint& point : work.signals) point.state->fail(failure);
    return true;
  });
  look_locked();
}

void StreamTimeline::wait(uint64_t value, uint64_t timeout_ns) {
  try {
    state_->wait(value, timeout_ns);
  } catch (const Failure& failure) {
    if (failure.code() != TN_ERROR_TIMEOUT) scheduler_.start_ready();
    throw;
  }
}

uint64_t StreamTimeline::query() {
  try {
    return state_->query();
  } catch (const Failure&) {
    scheduler_.start_ready();
    throw;
  }
}

void StreamTimeline::signal(uint64_t value) {
  state_->raise(value);
  scheduler_.start_ready();
}

}  // namespace tenon::sdk
