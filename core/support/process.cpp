// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace tenon {

struct ForkHandlers {
  std::atomic<uint64_t> generation{0};
  std::atomic<pid_t> process{getpid()};
  std::mutex list_mutex;
  ForkSafeMutex* first = nullptr;
  pthread_rwlock_t holds = PTHREAD_RWLOCK_INITIALIZER;

  ForkHandlers() { pthread_atfork(prepare, parent, child); }

  /// Never destroyed: static objects of applications come here late.
  static ForkHandlers& get() {
    static auto& handlers = *new ForkHandlers();
    return handlers;
  }

  /// Holds of the forking thread itself: a compiler may start a program by fork.
  static int& own_holds() {
    thread_local int count = 0;
    return count;
  }

  static void prepare() {
    ForkHandlers& h = get();
    if (own_holds() == 0) pthread_rwlock_wrlock(&h.holds);
    h.list_mutex.lock();
    for (ForkSafeMutex* m = h.first; m; m = m->next_) m->lock();
  }
  static void unlock() {
    ForkHandlers& h = get();
    for (ForkSafeMutex* m = h.first; m; m = m->next_) m->unlock();
    h.list_mutex.unlock();
  }
  static void parent() {
    unlock();
    if (own_holds() == 0) pthread_rwlock_unlock(&get().holds);
  }
  static void child() {
    ForkHandlers& h = get();
    ++h.generation;
    h.process = getpid();
    unlock();
    h.holds = PTHREAD_RWLOCK_INITIALIZER;  // locked by a thread of another id
    for (int i = 0; i < own_holds(); ++i) pthread_rwlock_rdlock(&h.holds);
  }
};

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
  pthread_rwlock_rdlock(&ForkHandlers::get().holds);
  ++ForkHandlers::own_holds();
}

ForkHold::~ForkHold() {
  --ForkHandlers::own_holds();
  pthread_rwlock_unlock(&ForkHandlers::get().holds);
}

}  // namespace tenon
