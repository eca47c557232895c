// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A queue: submissions in order, run by a thread of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/selftest/plugin/variants.hpp"
#include "sdk/backend/host_device.hpp"
#include "sdk/backend/timeline.hpp"

namespace tenon::planted {

/// Of the thread that opens a device, which the sdk hides from it.
inline thread_local int rounding_of_opener = 0;

struct Job {
  sdk::HostWork work;
  std::vector<std::pair<sdk::HostTimeline*, uint64_t>> waits, signals;

  bool reads(const std::byte* begin, uint64_t size) const;
  bool writes(const std::byte* begin, uint64_t size) const;
  bool signals_one_of(const Job& waiting) const;
  /// Overwrites what `earlier` reads, and uses nothing that it makes.
  bool only_overwrites(const Job& earlier) const;
};

class WorkQueue {
 public:
  WorkQueue(Variant variant, sdk::LaunchFunction launch);
  ~WorkQueue();  ///< when all is done
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void push(Job job);
  /// A job that has not ended answers true.
  bool any_pending(const std::function<bool(const Job&)>& question);

 private:
  void serve();
  void run(const Job& job);
  void run_late(const Job& job);
  void run_snapshots(const sdk::HostWork& work);

  const Variant variant_;
  const sdk::LaunchFunction launch_;
  const int rounding_;  ///< of who opened the device
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;  ///< the first one is running
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace tenon::planted
