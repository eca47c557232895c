// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/queue.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::cpu {
namespace {

/// Shorter work is cheaper on the calling thread than on the worker.
constexpr double kInlineNs = 20'000;
/// Interval at which a waiting worker checks whether its device closes.
constexpr uint64_t kWaitSliceNs = 20'000'000;

Batch::Point read_point(const tn_point& point) {
  return {static_cast<sdk::HostTimeline*>(sdk::timeline_of(point.timeline)), point.value};
}

void fail_signals(const Batch& batch, const sdk::Failure& failure) {
  for (const Batch::Point& point : batch.signals) point.timeline->fail(failure);
}

/// Whether a point is reached. A failed one is not; the worker's wait reports the failure.
bool is_reached(const Batch::Point& point) {
  try {
    return point.timeline->query() >= point.value;
  } catch (const sdk::Failure&) {
    return false;
  }
}

bool is_over(const Batch::Point& point) {
  return point.timeline->failure().has_value() || is_reached(point);
}

bool is_ready(const Batch& batch) { return std::ranges::all_of(batch.waits, is_reached); }

}  // namespace

Batch read_batch(const sdk::Submission& submission) {
  if (submission.queue() != 0)
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT,
                       fmt::format("submit: expected queue 0, got {}", submission.queue()));
  Batch batch;
  batch.work = sdk::read_work(submission);
  for (const sdk::HostCommand& command : batch.work.commands) {
    if (command.kind == TN_COMMAND_LAUNCH && !executable_of(command).entry())
      throw sdk::Failure(
          TN_ERROR_INVALID_ARGUMENT,
          "launch: expected an executable compiled for a device, got one for a named "
          "target");
  }
  for (uint32_t i = 0; i < submission.wait_count(); ++i)
    batch.waits.push_back(read_point(submission.wait(i)));
  for (uint32_t i = 0; i < submission.signal_count(); ++i)
    batch.signals.push_back(read_point(submission.signal(i)));
  return batch;
}

Queue::Queue(unsigned threads)
    : launcher_(threads, [this] { call_worker(); }), worker_([this] { run(); }) {}

Queue::~Queue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

bool Queue::runs_at_once(const Batch& batch) const {
  double expected = 0;
  for (const sdk::HostCommand& command : batch.work.commands)
    expected += Launcher::estimated_ns(command);
  return expected < kInlineNs && is_ready(batch);
}

void Queue::submit(Batch batch) {
  std::unique_lock lock(mutex_);
  if (running_ || !batches_.empty() || !runs_at_once(batch)) {
    batches_.push_back(std::move(batch));
    // The caller will probably wait and run the work itself. If not, awake threads find it.
    if (!launcher_.is_awake()) changed_.notify_one();
    return;
  }
  batches_.push_back(std::move(batch));
  run_first(lock);
  const bool more = !batches_.empty();
  lock.unlock();
  if (more) changed_.notify_one();
}

void Queue::call_worker() {
  const std::lock_guard lock(mutex_);
  if (!running_ && !batches_.empty()) changed_.notify_one();
}

void Queue::help(const Batch::Point& point) {
  std::unique_lock lock(mutex_);
  if (running_) return;
  while (!batches_.empty() && is_ready(batches_.front()) && !is_over(point)) run_first(lock);
  const bool more = !batches_.empty();
  lock.unlock();
  if (more) changed_.notify_one();
}

void Queue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !running_ && (stopping_ || !batches_.empty()); });
    if (batches_.empty()) return;
    run_first(lock);
  }
}

void Queue::run_first(std::unique_lock<std::mutex>& lock) {
  const Batch batch = std::move(batches_.front());
  batches_.pop_front();
  running_ = true;
  lock.unlock();
  execute(batch);
  lock.lock();
  running_ = false;
}

void Queue::wait_for(const Batch& batch) {
  for (const Batch::Point& point : batch.waits) {
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        if (stopping_)
          throw sdk::Failure(TN_ERROR_DEVICE_LOST, "submit: the device was closed before its turn");
      }
      try {
        point.timeline->wait(point.value, kWaitSliceNs);
        break;
      } catch (const sdk::Failure& failure) {
        if (failure.code() != TN_ERROR_TIMEOUT) throw;
      }
    }
  }
}

void Queue::execute(const Batch& batch) {
  try {
    wait_for(batch);
    launcher_.announce(batch.work.commands);
    for (const sdk::HostCommand& command : batch.work.commands) {
      switch (command.kind) {
        case TN_COMMAND_LAUNCH:
          launcher_.launch(executable_of(command), command.grid,
                           batch.work.arguments_of(command).data());
          break;
        case TN_COMMAND_COPY:
          launcher_.copy(command.destination, command.source, command.size);
          break;
        case TN_COMMAND_FILL:
          launcher_.fill(command.destination, command.size, command.pattern, command.pattern_size);
          break;
      }
    }
  } catch (...) {
    return fail_signals(batch, sdk::current_failure());
  }
  for (const Batch::Point& point : batch.signals) point.timeline->signal(point.value);
}

void QueueTimeline::wait(uint64_t value, uint64_t timeout_ns) {
  if (timeout_ns == UINT64_MAX) queue_.help({this, value});
  HostTimeline::wait(value, timeout_ns);
}

}  // namespace tenon::cpu
