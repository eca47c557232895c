// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device's queue.
#include "plugins/cpu/queue.hpp"

#include <fmt/format.h>

namespace tenon::cpu {
namespace {

/// Handing over to the worker and back costs more.
constexpr double kInlineNs = 20'000;
/// How often a worker that waits looks whether its device closes.
constexpr uint64_t kWaitSliceNs = 20'000'000;

const CpuExecutable& executable_of(const sdk::HostCommand& command) {
  return static_cast<const CpuExecutable&>(*command.executable);
}

Batch::Point read_point(const tn_point& point) {
  return {static_cast<sdk::HostTimeline*>(sdk::timeline_of(point.timeline)), point.value};
}

void fail_signals(const Batch& batch, const sdk::Failure& failure) {
  for (const Batch::Point& point : batch.signals) point.timeline->fail(failure);
}

bool is_reached(const Batch::Point& point) {
  try {
    return point.timeline->query() >= point.value;
  } catch (const sdk::Failure&) {
    return false;  // the worker's wait tells which failure
  }
}

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

Queue::Queue(unsigned threads) : launcher_(threads), worker_([this] { run(); }) {}

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
  for (const sdk::HostCommand& command : batch.work.commands) {
    expected += command.kind == TN_COMMAND_LAUNCH
                    ? Launcher::estimated_ns(executable_of(command), command.grid)
                    : Launcher::estimated_copy_ns(command.size);
  }
  if (!(expected < kInlineNs)) return false;
  for (const Batch::Point& point : batch.waits) {
    if (!is_reached(point)) return false;
  }
  return true;
}

void Queue::submit(Batch batch) {
  std::unique_lock lock(mutex_);
  if (running_ || !batches_.empty() || !runs_at_once(batch)) {
    batches_.push_back(std::move(batch));
    lock.unlock();
    changed_.notify_one();
    return;
  }
  running_ = true;
  lock.unlock();
  execute(batch);
  lock.lock();
  running_ = false;
  const bool more = !batches_.empty();
  lock.unlock();
  if (more) changed_.notify_one();
}

void Queue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !running_ && (stopping_ || !batches_.empty()); });
    if (batches_.empty()) return;
    const Batch batch = std::move(batches_.front());
    batches_.pop_front();
    running_ = true;
    lock.unlock();
    execute(batch);
    lock.lock();
    running_ = false;
  }
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

}  // namespace tenon::cpu
