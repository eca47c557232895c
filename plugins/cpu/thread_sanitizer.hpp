// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tells ThreadSanitizer of the order that oneTBB keeps: the library itself is not instrumented, so
// its hand-overs between threads are invisible. Nothing in other builds.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
#endif

namespace tenon::cpu {

class HandOver {
 public:
#if defined(__SANITIZE_THREAD__)
  void start() { __tsan_release(&began_); }
  void enter() { __tsan_acquire(&began_); }
  void leave() { __tsan_release(&ended_); }
  void finish() { __tsan_acquire(&ended_); }

 private:
  char began_ = 0, ended_ = 0;
#else
  void start() {}
  void enter() {}
  void leave() {}
  void finish() {}
#endif
};

}  // namespace tenon::cpu
