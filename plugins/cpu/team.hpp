// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A team of threads that does ranges of work together, one range after the other. Between two
// ranges the members watch for a moment and then sleep, so that a chain of ranges wakes nobody.
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
  /// Of `threads` threads, among them the one that calls run(). The others are started when there
  /// is first something for them to do; where the system has none to give, there are fewer. Each
  /// calls `before_sleep` when it has nothing to do for a while.
  explicit Team(unsigned threads, std::function<void()> before_sleep = {})
      : shares_(threads), before_sleep_(std::move(before_sleep)) {}
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Calls body(begin, end, slot) for ranges that together are [0, count), each of `chunk` but for
  /// the last. The caller has slot 0, each member its own below `threads`. Returns when all is
  /// done, and throws what one of the calls has thrown; others may then be left out. One caller at
  /// a time, and not from within a body.
  template <class Body>
  void run(uint64_t count, uint64_t chunk, const Body& body) {
    share({[](const void* self, uint64_t begin, uint64_t end, unsigned slot) {
             (*static_cast<const Body*>(self))(begin, end, slot);
           },
           &body, count, chunk});
  }

  /// There will soon be something to do. Between calls of run().
  void wake();
  /// Some member is awake: the next run() is shared at once, and if there is none, before_sleep is
  /// called after this.
  bool is_awake() const { return awake_.load() != 0; }
  unsigned threads() const { return static_cast<unsigned>(shares_.size()); }

 private:
  struct Work {
    void (*call)(const void* body, uint64_t begin, uint64_t end, unsigned slot) = nullptr;
    const void* body = nullptr;
    uint64_t count = 0, chunk = 1;
  };
  /// What a thread begins with; when it is through, it takes of others: nobody waits for one that
  /// comes late.
  struct alignas(64) Share {
    std::atomic<uint64_t> left{0};  ///< number of the range << 32 | chunks that nobody has taken
    std::atomic<int> core{-1};      ///< that its thread was last seen on; -1: it sleeps
  };

  void share(const Work& work);
  void start();
  void rouse();
  void member(unsigned slot, uint32_t seen);
  void keep_apart(unsigned slot);
  void take_part(uint32_t range, unsigned slot);
  uint32_t take_from(unsigned share, uint32_t range, unsigned slot);
  void call(uint64_t chunk, unsigned slot);
  /// The first chunk of a share.
  uint64_t first_of(size_t share) const { return chunks_ * share / shares_.size(); }

  Work work_;  ///< with chunks_: read only by who has taken a chunk of it
  uint64_t chunks_ = 0;
  std::vector<Share> shares_;  ///< by slot
  std::function<void()> before_sleep_;
  bool is_started_ = false;
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::atomic<bool> has_failed_{false}, is_stopping_{false};
  std::atomic<size_t> awake_{0};                 ///< members
  alignas(64) std::atomic<uint32_t> range_{0};   ///< the number of the newest
  alignas(64) std::atomic<uint32_t> undone_{0};  ///< chunks of it
  std::vector<std::jthread> members_;
};

}  // namespace tenon::cpu
