// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread pool that runs parallel ranges one after another. Between ranges members spin for a
// moment before they sleep, so that successive ranges need no wake-ups.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tenon::cpu {

class Team {
 public:
  /// A team of `threads` threads, including the caller of run(). The others are started at first
  /// use; there are fewer if the system has no more. Each calls `before_sleep` before it sleeps.
  explicit Team(unsigned threads, std::function<void()> before_sleep = {})
      : shares_(threads), before_sleep_(std::move(before_sleep)) {}
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Calls body(begin, end, slot) for ranges that partition [0, count), each of size `chunk` except
  /// the last. The caller has slot 0, each member its own below `threads`. Returns when all are
  /// done. If a call throws, rethrows it and may skip others. One caller at a time, not from within
  /// a body.
  template <class Body>
  void run(uint64_t count, uint64_t chunk, const Body& body) {
    share({[](const void* self, uint64_t begin, uint64_t end, unsigned slot) {
             (*static_cast<const Body*>(self))(begin, end, slot);
           },
           &body, count, chunk});
  }

  /// Wakes members, as work will come soon. Not during run().
  void wake();
  /// Whether some member is awake: then the next run() is shared at once, and without one
  /// before_sleep is called later.
  bool is_awake() const { return awake_.load() != 0; }
  unsigned threads() const { return static_cast<unsigned>(shares_.size()); }

 private:
  struct Work {
    void (*call)(const void* body, uint64_t begin, uint64_t end, unsigned slot) = nullptr;
    const void* body = nullptr;
    uint64_t count = 0, chunk = 1;
  };
  /// The chunks that a thread begins with. Work stealing: afterwards it takes chunks of others, so
  /// nobody waits for a late thread.
  struct alignas(64) Share {
    std::atomic<uint64_t> left{0};  ///< number of the range << 32 | chunks not taken
    std::atomic<int> core{-1};      ///< the last core of its thread; -1: asleep
  };

  void share(const Work& work);
  void start();
  void wake_one();
  void member(unsigned slot, uint32_t seen);
  void avoid_shared_core(unsigned slot);
  void run_share(uint32_t range, unsigned slot);
  uint32_t take_from(unsigned share, uint32_t range, unsigned slot);
  void call(uint64_t chunk, unsigned slot);
  /// First chunk of a share.
  uint64_t first_of(size_t share) const { return chunks_ * share / shares_.size(); }

  Work work_;  ///< with chunks_, read only by threads that took a chunk
  uint64_t chunks_ = 0;
  std::vector<Share> shares_;  ///< by slot
  std::function<void()> before_sleep_;
  bool is_started_ = false;
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::atomic<bool> has_failed_{false}, is_stopping_{false};
  std::atomic<size_t> awake_{0};                 ///< number of awake members
  alignas(64) std::atomic<uint32_t> range_{0};   ///< number of the newest range
  alignas(64) std::atomic<uint32_t> undone_{0};  ///< chunks of it not done
  std::vector<std::jthread> members_;
};

}  // namespace tenon::cpu
