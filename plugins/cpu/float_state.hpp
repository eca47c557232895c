// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels round to nearest and keep subnormals, whatever the thread's owner has set.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenon::cpu {

#if defined(__x86_64__)
class FloatState {
 public:
  FloatState() : before_(_mm_getcsr()) {
    if (before_ != kDefault) _mm_setcsr(kDefault);
  }
  ~FloatState() { _mm_setcsr(before_); }
  FloatState(const FloatState&) = delete;
  FloatState& operator=(const FloatState&) = delete;

 private:
  static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked
  unsigned before_;
};
#else
class FloatState {
 public:
  FloatState() {}
};
#endif

}  // namespace tenon::cpu
