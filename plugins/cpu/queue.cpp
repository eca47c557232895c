// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device's queue.
#include "plugins/cpu/queue.hpp"

namespace tenon::cpu {
namespace {

/// Handing over to the worker and back costs more.
constexpr double kInlineNs = 20'000;
/// How often a worker that waits looks whether its device closes.
constexpr uint64_t kWaitSliceNs = 20'000'000;

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
  for (const Work& work : batch.work)
    expected += work.kind == TN_COMMAND_LAUNCH ? Launcher::estimated_ns(*work.executable, work.grid)
                                               : Launcher::estimated_copy_ns(work.size);
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
    for (const Work& work : batch.work) {
      switch (work.kind) {
        case TN_COMMAND_LAUNCH:
          launcher_.launch(*work.executable, work.grid,
                           batch.arguments.data() + work.first_argument);
          break;
        case TN_COMMAND_COPY:
          launcher_.copy(work.to, work.from, work.size);
          break;
        case TN_COMMAND_FILL:
          launcher_.fill(work.to, work.size, work.pattern, work.pattern_size);
          break;
      }
    }
  } catch (...) {
    return fail_signals(batch, sdk::current_failure());
  }
  for (const Batch::Point& point : batch.signals) point.timeline->signal(point.value);
}

}  // namespace tenon::cpu
