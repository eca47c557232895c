// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/selftest/plugin/spare_things.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cfenv>
#include <condition_variable>
#include <mutex>

namespace tenon::planted {
namespace {

constexpr int kFiles = 12, kThreads = 3;

/// A thread's own affair: signals it takes, and how it rounds.
void rest(const std::stop_token& stop) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::fesetround(FE_TOWARDZERO);
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait(lock, stop, [] { return false; });
}

}  // namespace

SpareThings::SpareThings(bool any) {
  for (int i = 0; any && i < kFiles; ++i) files_.push_back(open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int i = 0; any && i < kThreads; ++i) threads_.emplace_back(rest);
}

SpareThings::~SpareThings() {
  for (const int file : files_) close(file);
}

}  // namespace tenon::planted
