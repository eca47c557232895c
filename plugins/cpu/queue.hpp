// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The queue of a device: submissions run in order, on a waiting thread or a worker. Failures go to
// their timelines.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "plugins/cpu/launcher.hpp"
#include "sdk/backend/timeline.hpp"

namespace tenon::cpu {

/// A checked copy of a submission.
struct Batch {
  struct Point {
    sdk::HostTimeline* timeline;
    uint64_t value;
  };
  sdk::HostWork work;
  std::vector<Point> waits, signals;
};

/// Throws sdk::Failure.
Batch read_batch(const sdk::Submission& submission);

class Queue {
 public:
  explicit Queue(unsigned threads);
  /// Runs pending work. Work that still waits for a timeline fails with TN_ERROR_DEVICE_LOST.
  ~Queue();
  /// Short work without unreached waits runs at once on the calling thread.
  void submit(Batch batch);
  /// For a thread that waits for `point`: runs pending work up to that point that the worker has
  /// not begun.
  void help(const Batch::Point& point);

 private:
  void run();
  void call_worker();
  void run_first(std::unique_lock<std::mutex>& lock);
  bool runs_at_once(const Batch& batch) const;
  void execute(const Batch& batch);
  void wait_for(const Batch& batch);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;
  bool running_ = false;  ///< a thread uses launcher_
  bool stopping_ = false;
  Launcher launcher_;
  std::thread worker_;
};

/// A timeline whose waits without timeout help the queue of its device.
class QueueTimeline : public sdk::HostTimeline {
 public:
  QueueTimeline(Queue& queue, uint64_t value) : HostTimeline(value), queue_(queue) {}
  void wait(uint64_t value, uint64_t timeout_ns) override;

 private:
  Queue& queue_;
};

}  // namespace tenon::cpu
