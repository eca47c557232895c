// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread pool. Ranges are numbered, and each share holds the number of its range and the chunks
// left in one atomic. A late thread with the number of an older range takes nothing, as its
// compare-exchange fails.
#include "plugins/cpu/team.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "sdk/support/float_state.hpp"

namespace tenon::cpu {
namespace {

using Clock = std::chrono::steady_clock;
/// About the time to wake a thread, so spinning costs at most what it may save.
constexpr auto kWatch = std::chrono::microseconds(50);
/// After this time a spinning thread yields its core.
constexpr auto kPolite = std::chrono::microseconds(5);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Spins until the condition holds or the time is over. Returns the condition.
template <class Condition, class Action>
bool watch(const Condition& is_over, const Action& before_yield) {
  constexpr int kLooksPerTime = 16;
  const auto begin = Clock::now();
  while (true) {
    for (int i = 0; i < kLooksPerTime; ++i) {
      if (is_over()) return true;
      pause();
    }
    const auto spent = Clock::now() - begin;
    if (spent > kWatch) return false;
    if (spent < kPolite) continue;
    before_yield();
    std::this_thread::yield();
  }
}

}  // namespace

Team::~Team() {
  is_stopping_ = true;
  ++range_;
  range_.notify_all();
}

void Team::start() {
  is_started_ = true;
  const uint32_t seen = range_;
  members_.reserve(shares_.size() - 1);
  try {
    for (unsigned slot = 1; slot < shares_.size(); ++slot) {
      ++awake_;
      members_.emplace_back([this, slot, seen] { member(slot, seen); });
    }
  } catch (const std::exception&) {
    --awake_;  // threads that exist do the work
  }
}

/// Wakes one member. Each woken member wakes two more, so that the caller need not wake all.
void Team::wake_one() {
  range_.notify_one();
  range_.notify_one();
}

void Team::wake() {
  if (!is_started_) return start();
  if (awake_.load() >= members_.size()) return;
  ++range_;  // an empty range
  wake_one();
}

void Team::share(const Work& work) {
  if (!is_started_) start();
  work_ = work;
  work_.chunk = std::max(work.chunk, (work.count >> 31) + 1);  // the number of chunks has 32 bits
  chunks_ = (work_.count + work_.chunk - 1) / work_.chunk;
  has_failed_.store(false, std::memory_order_relaxed);
  undone_.store(static_cast<uint32_t>(chunks_), std::memory_order_relaxed);
  const uint32_t range = range_.load(std::memory_order_relaxed) + 1;
  for (size_t i = 0; i < shares_.size(); ++i)
    shares_[i].left.store(uint64_t{range} << 32 | (first_of(i + 1) - first_of(i)),
                          std::memory_order_release);
  range_.store(range);
  if (awake_.load() < members_.size()) wake_one();
  shares_[0].core.store(sched_getcpu(), std::memory_order_relaxed);
  run_share(range, 0);
  const auto undone = [&] { return undone_.load(std::memory_order_acquire); };
  if (!watch([&] { return undone() == 0; }, [] {}))
    while (const uint32_t left = undone()) undone_.wait(left);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Team::member(unsigned slot, uint32_t seen) {
  const sdk::FloatState floats;
  while (true) {
    const auto is_news = [&] { return range_.load(std::memory_order_acquire) != seen; };
    if (!watch(is_news, [&] { avoid_shared_core(slot); })) {
      shares_[slot].core.store(-1, std::memory_order_relaxed);
      --awake_;
      if (before_sleep_) before_sleep_();
      range_.wait(seen);
      ++awake_;
      wake_one();
      avoid_shared_core(slot);
    }
    seen = range_.load(std::memory_order_acquire);
    if (is_stopping_) return;  // after reading the number, as stopping publishes a last range
    run_share(seen, slot);
  }
}

/// A thread is often woken on the core of its waker and stays there for milliseconds, though other
/// cores are idle. So it moves away from a core of another member, without being pinned.
void Team::avoid_shared_core(unsigned slot) {
  const auto core_of = [&](size_t i) { return shares_[i].core.load(std::memory_order_relaxed); };
  int here = sched_getcpu();
  cpu_set_t all, free;
  const auto is_shared = [&] {
    for (size_t i = 0; i < shares_.size(); ++i)
      if (i != slot && core_of(i) == here) return true;
    return false;
  };
  if (is_shared() && sched_getaffinity(0, sizeof all, &all) == 0) {
    free = all;
    for (size_t i = 0; i < shares_.size(); ++i)
      if (const int core = core_of(i); i != slot && core >= 0) CPU_CLR(core, &free);
    if (CPU_COUNT(&free) != 0 && sched_setaffinity(0, sizeof free, &free) == 0) {
      sched_setaffinity(0, sizeof all, &all);
      here = sched_getcpu();
    }
  }
  shares_[slot].core.store(here, std::memory_order_relaxed);
}

/// Takes its own share first, whose data may be in its cache, then steals from others.
void Team::run_share(uint32_t range, unsigned slot) {
  uint32_t done = 0;
  for (unsigned i = 0; i < shares_.size(); ++i)
    done += take_from((slot + i) % threads(), range, slot);
  if (done != 0 && undone_.fetch_sub(done, std::memory_order_acq_rel) == done) undone_.notify_one();
}

/// Returns the number of chunks done.
uint32_t Team::take_from(unsigned share, uint32_t range, unsigned slot) {
  std::atomic<uint64_t>& left = shares_[share].left;
  uint32_t done = 0;
  uint64_t word = left.load(std::memory_order_acquire);
  while (word >> 32 == range && static_cast<uint32_t>(word) != 0) {
    if (!left.compare_exchange_weak(word, word - 1, std::memory_order_acq_rel,
                                    std::memory_order_acquire))
      continue;
    call(first_of(share + 1) - static_cast<uint32_t>(word), slot);
    ++done;
    word = left.load(std::memory_order_acquire);
  }
  return done;
}

void Team::call(uint64_t chunk, unsigned slot) {
  if (has_failed_.load(std::memory_order_relaxed)) return;
  const uint64_t begin = chunk * work_.chunk;
  try {
    work_.call(work_.body, begin, std::min(begin + work_.chunk, work_.count), slot);
  } catch (...) {
    const std::lock_guard lock(error_mutex_);
    if (!error_) error_ = std::current_exception();
    has_failed_.store(true, std::memory_order_relaxed);
  }
}

}  // namespace tenon::cpu
