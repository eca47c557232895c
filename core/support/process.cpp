// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <new>
#include <utility>
#include <vector>

#include "core/support/fork_handlers.hpp"

namespace tenon {

namespace {

constexpr uint32_t kForking = 1u << 31;

/// Counts threads in a hold. A fork waits until there is none.
class Holds {
 public:
  explicit Holds(uint32_t threads) : threads_(threads) {}

  void enter() {
    uint32_t threads = threads_;
    while (!(threads & kForking))
      if (threads_.compare_exchange_weak(threads, threads + 1)) return;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !(threads_ & kForking); });
    ++threads_;
  }
  void leave() {
    if (threads_.fetch_sub(1) != (kForking | 1)) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  void begin_fork() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !(threads_ & kForking); });
    threads_ |= kForking;
    changed_.wait(lock, [&] { return threads_ == kForking; });
  }
  void end_fork() {
    const std::lock_guard lock(mutex_);
    threads_ &= ~kForking;
    changed_.notify_all();
  }

 private:
  std::atomic<uint32_t> threads_;  ///< or-ed with kForking while a thread forks or waits to
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// What is let go of outside of holds.
class Late {
 public:
  void add(std::shared_ptr<void> owner) {
    const std::lock_guard lock(mutex_);
    owners_.push_back(std::move(owner));
    any_ = true;
  }
  void release() {
    // What an owner runs comes here again: this call goes on with the rest.
    thread_local bool is_under_way = false;
    if (!any_ || is_under_way) return;
    is_under_way = true;
    while (const std::shared_ptr<void> owner = take()) {
    }
    is_under_way = false;
  }
  /// They stay reachable.
  void keep_all() {
    const std::lock_guard lock(mutex_);
    kept_.insert(kept_.end(), owners_.begin(), owners_.end());
    owners_.clear();
    any_ = false;
  }
  void keep_from_now_on() { is_ending_ = true; }

 private:
  std::shared_ptr<void> take() {
    const std::lock_guard lock(mutex_);
    if (owners_.empty() || is_ending_) return nullptr;
    std::shared_ptr<void> owner = std::move(owners_.back());
    owners_.pop_back();
    any_ = !owners_.empty();
    return owner;
  }
  ForkSafeMutex mutex_;
  std::atomic<bool> any_ = false, is_ending_ = false;
  std::vector<std::shared_ptr<void>> owners_, kept_;
};

/// Never destroyed: destructors of static objects may use it.
Late& late() {
  static auto& instance = *new Late();
  return instance;
}

}  // namespace

struct ForkHandlers {
  std::atomic<uint64_t> generation{0};
  std::atomic<pid_t> process{getpid()};
  std::mutex list_mutex;
  ForkSafeMutex* first = nullptr;
  Holds holds{0};
  std::atomic<void (*)()> before = nullptr, in_child = nullptr;

  ForkHandlers() { (void)add(); }
  static bool add() { return pthread_atfork(prepare, parent, child) == 0; }

  /// Never destroyed: destructors of static objects may use it.
  static ForkHandlers& get() {
    static auto& handlers = *new ForkHandlers();
    return handlers;
  }

  /// Holds of one thread, which may itself fork: a compiler may start a program by fork.
  struct ThreadHolds {
    int count = 0;
    bool counted = false;   ///< counted in Holds; false within another thread's hold
    int cancel_state = 0;   ///< before the outermost hold
    bool prepared = false;  ///< set by the first handler, as handlers may be registered many times
  };
  static ThreadHolds& own_holds() {
    thread_local ThreadHolds own;
    return own;
  }

  static void prepare() {
    ForkHandlers& h = get();
    ThreadHolds& own = own_holds();
    if (own.prepared) return;
    if (own.count++ == 0) {
      h.holds.begin_fork();
      if (const auto before = h.before.load()) before();
    }
    h.list_mutex.lock();
    for (ForkSafeMutex* m = h.first; m; m = m->next_) m->lock();
    own.prepared = true;
  }
  static void unlock() {
    ForkHandlers& h = get();
    for (ForkSafeMutex* m = h.first; m; m = m->next_) m->unlock();
    h.list_mutex.unlock();
  }
  static void parent() {
    ThreadHolds& own = own_holds();
    if (!std::exchange(own.prepared, false)) return;
    unlock();
    if (--own.count == 0) get().holds.end_fork();
  }
  static void child() {
    ForkHandlers& h = get();
    ThreadHolds& own = own_holds();
    if (!std::exchange(own.prepared, false)) return;
    ++h.generation;
    h.process = getpid();
    unlock();
    --own.count;
    late().keep_all();  // the parent lets go of its own
    ::new (&h.holds)
        Holds(own.counted ? 1 : 0);  // a new one, as threads of the parent wait in the old one
    if (const auto in_child = h.in_child.load()) in_child();
  }
};

namespace {

/// Made at load: a child of fork would hang if a thread of its parent was constructing it.
[[maybe_unused]] const ForkHandlers& fork_handlers_made_at_load = ForkHandlers::get();
[[maybe_unused]] const Late& late_made_at_load = late();

}  // namespace

Birthplace birthplace() {
  const ForkHandlers& h = ForkHandlers::get();
  return {h.generation, h.process};
}

bool is_native(const Birthplace& made_in) {
  return made_in.generation == ForkHandlers::get().generation;
}

ForkSafeMutex::ForkSafeMutex() {
  ForkHandlers& h = ForkHandlers::get();
  const std::lock_guard lock(h.list_mutex);
  next_ = h.first;
  if (next_) next_->previous_ = this;
  h.first = this;
}

ForkSafeMutex::~ForkSafeMutex() {
  ForkHandlers& h = ForkHandlers::get();
  const std::lock_guard lock(h.list_mutex);
  (previous_ ? previous_->next_ : h.first) = next_;
  if (next_) next_->previous_ = previous_;
}

ForkHold::ForkHold() {
  auto& own = ForkHandlers::own_holds();
  if (own.count++ > 0) return;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &own.cancel_state);
  ForkHandlers::get().holds.enter();
  own.counted = true;
}

ForkHold::~ForkHold() {
  auto& own = ForkHandlers::own_holds();
  if (--own.count > 0) return;
  own.counted = false;
  const int cancel_state = own.cancel_state;
  ForkHandlers::get().holds.leave();
  late().release();  // still without being cancelled half-way
  pthread_setcancelstate(cancel_state, nullptr);
}

void release_outside_holds(std::shared_ptr<void> owner) { late().add(std::move(owner)); }
void keep_what_is_left() { late().keep_from_now_on(); }

WithinForkHold::WithinForkHold() { ++ForkHandlers::own_holds().count; }

WithinForkHold::~WithinForkHold() { --ForkHandlers::own_holds().count; }

void at_fork(void (*before)(), void (*in_child)()) {
  ForkHandlers& h = ForkHandlers::get();
  h.in_child = in_child;
  h.before = before;
}

void register_fork_handlers() {
  if (!ForkHandlers::add()) throw std::bad_alloc();
}

}  // namespace tenon
