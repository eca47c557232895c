// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/backend/signal_guard.hpp"

#include <csignal>
#include <mutex>

namespace tenon::sdk {
namespace {

std::mutex mutex;
int guards = 0;
struct sigaction before[NSIG];
thread_local int depth = 0;
thread_local sigset_t blocked;

bool is_drivers(int signal) {
  for (int each : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGQUIT})
    if (signal == each) return true;
  return signal >= SIGRTMIN;
}

bool is_same(const struct sigaction& a, const struct sigaction& b) {
  return a.sa_flags == b.sa_flags && a.sa_handler == b.sa_handler;  // a union with sa_sigaction
}

}  // namespace

SignalGuard::SignalGuard() {
  if (depth++ == 0) pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  const std::lock_guard lock(mutex);
  if (guards++) return;
  for (int s = 1; s < NSIG; ++s) sigaction(s, nullptr, &before[s]);
}

SignalGuard::~SignalGuard() {
  if (--depth == 0) pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  const std::lock_guard lock(mutex);
  if (--guards) return;
  for (int s = 1; s < NSIG; ++s) {
    struct sigaction now {};
    if (is_drivers(s) || sigaction(s, nullptr, &now) || is_same(now, before[s])) continue;
    sigaction(s, &before[s], nullptr);
  }
}

}  // namespace tenon::sdk
