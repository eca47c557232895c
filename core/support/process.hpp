// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process and its children by fork. A child has one thread, the one that called fork: what the
// others were at is as it was, and their locks stay locked.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>

namespace tenon {

/// Which process something was made in. Not its id: that of a child may be one that has been.
struct Birthplace {
  uint64_t generation = 0;  ///< how many forks lie between this process and the first
  pid_t process = 0;
};
Birthplace birthplace();
/// False in a child of the process that `made_in` names.
bool is_native(const Birthplace& made_in);

/// A mutex for what a child goes on to use: fork waits until it is free. Held for moments only,
/// one at a time.
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

/// fork waits until no other thread holds one: around all that takes locks which are the process's,
/// as compilers, drivers, `atexit` and static objects of functions do. Taken before any lock of an
/// object. Threads that begin one while a fork waits come after it. They may nest.
class ForkHold {
 public:
  ForkHold();
  ~ForkHold();
  ForkHold(const ForkHold&) = delete;
  ForkHold& operator=(const ForkHold&) = delete;
};

/// Said by a thread whose work another one waits for inside a ForkHold: its own are nested in that.
class WithinForkHold {
 public:
  WithinForkHold();
  ~WithinForkHold();
  WithinForkHold(const WithinForkHold&) = delete;
  WithinForkHold& operator=(const WithinForkHold&) = delete;
};

/// `before` is called by each fork when no other thread is in a hold, `in_child` in its child: also
/// by one that waits already, which pthread_atfork does not promise. One pair a process.
void at_fork(void (*before)(), void (*in_child)());

}  // namespace tenon
