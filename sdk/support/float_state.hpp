// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sets rounding to nearest and keeps subnormals while kernels run, whatever the application has
// set. Threads that a driver starts meanwhile inherit this state.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace tenon::sdk {

class FloatState {
 public:
#if defined(__x86_64__)
  FloatState() : before_(_mm_getcsr()) {
    if (before_ != kDefault) _mm_setcsr(kDefault);
  }
  ~FloatState() { _mm_setcsr(before_); }
#else
  FloatState() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatState() { std::fesetenv(&before_); }
#endif
  FloatState(const FloatState&) = delete;
  FloatState& operator=(const FloatState&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked
  unsigned before_;
#else
  std::fenv_t before_;
#endif
};

}  // namespace tenon::sdk
