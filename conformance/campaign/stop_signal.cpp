// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/stop_signal.hpp"

#include <atomic>

namespace tenon::conformance::campaign {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};
std::atomic<int> came{0};  // all that a handler may touch
static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

StopSignal::StopSignal(bool watch) : watch_(watch) {
  came = 0;
  if (!watch_) return;
  struct sigaction action {};
  action.sa_handler = [](int number) { came = number; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &action, &before_[i]);
}

StopSignal::~StopSignal() {
  if (!watch_) return;
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

int StopSignal::number() const { return came; }

std::string StopSignal::name() const {
  const int number = came;
  return number == SIGINT ? "SIGINT" : number == SIGTERM ? "SIGTERM" : "";
}

}  // namespace tenon::conformance::campaign
