// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Support for fork. A child has only the thread that called fork: the work of others stays
// unfinished, and their locks stay locked.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>

namespace tenon {

/// The process in which something was made. A process id is not enough, as ids are reused.
struct Birthplace {
  uint64_t generation = 0;  ///< number of forks between this process and the first
  pid_t process = 0;
};
Birthplace birthplace();
/// False in a child of the process that `made_in` names.
bool is_native(const Birthplace& made_in);

/// A mutex for data that a child continues to use: fork waits until it is free. Hold it briefly,
/// and only one at a time.
class ForkSafeMutex {
 public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend struct ForkHandlers;
  std::mutex mutex_;
  ForkSafeMutex* next_ = nullptr;
  ForkSafeMutex* previous_ = nullptr;
};

/// fork waits until no other thread holds one. Use it around code that takes process-wide locks, as
/// compilers, drivers, `atexit` and local statics do, and take it before any lock of an object.
/// Threads that begin a hold while a fork waits continue after the fork. Holds may nest. A thread
/// that is cancelled within one ends at its next cancellation point after it: what waits for
/// others, or is told by callbacks, is not left half-way.
class ForkHold {
 public:
  ForkHold();
  ~ForkHold();
  ForkHold(const ForkHold&) = delete;
  ForkHold& operator=(const ForkHold&) = delete;
};

/// Lets go of what others handed over once this thread, or another one, is in no hold: what that
/// runs may call anything, wait for a fork and take locks of the application. Threads within the
/// hold of another one never do it; nobody does in a child of fork, nor after `keep_what_is_left`.
void release_outside_holds(std::shared_ptr<void> owner);
/// When the process ends: an interpreter that an owner belongs to may be gone.
void keep_what_is_left();

/// For a thread that works for another one inside a ForkHold: its holds count as nested in that
/// one.
class WithinForkHold {
 public:
  WithinForkHold();
  ~WithinForkHold();
  WithinForkHold(const WithinForkHold&) = delete;
  WithinForkHold& operator=(const WithinForkHold&) = delete;
};

/// Sets the fork handlers of the process: `before` runs when no other thread is in a hold,
/// `in_child` in the child. They apply to a fork that is already waiting too, which pthread_atfork
/// does not promise.
void at_fork(void (*before)(), void (*in_child)());

}  // namespace tenon
