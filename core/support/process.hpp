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

/// fork waits until no other thread holds one: around calls into libraries that keep locks of their
/// own, as compilers do.
class ForkHold {
 public:
  ForkHold();
  ~ForkHold();
  ForkHold(const ForkHold&) = delete;
  ForkHold& operator=(const ForkHold&) = delete;
};

}  // namespace tenon
