// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Time and memory of the whole program: a walk that takes a DAG for a tree needs more of either.
#include <sys/resource.h>

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

struct Limits {
  Limits() {
    const rlim_t seconds = kSanitized ? 600 : 60, bytes = rlim_t{4} << 30;
    const rlimit time{seconds, seconds}, memory{bytes, bytes};
    setrlimit(RLIMIT_CPU, &time);
    // A sanitizer's shadow counts as data.
    if (!kSanitized) setrlimit(RLIMIT_DATA, &memory);
  }
};
[[maybe_unused]] const Limits limits;

}  // namespace
