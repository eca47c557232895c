// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/backend/signal_guard.hpp"

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <thread>

namespace tenon::sdk {
namespace {

void handler(int) {}

struct sigaction action_of(int signal) {
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  return now;
}

}  // namespace

TEST_CASE("a driver's start leaves what signals do, but for those that are its own") {
  const struct sigaction fpe = action_of(SIGFPE), segv = action_of(SIGSEGV);
  sigset_t mask, usr;
  sigemptyset(&usr);
  sigaddset(&usr, SIGUSR1);
  {
    const SignalGuard guard;
    std::signal(SIGFPE, handler);
    std::signal(SIGSEGV, handler);
    pthread_sigmask(SIG_BLOCK, &usr, nullptr);
    { const SignalGuard inner; }
    CHECK(action_of(SIGFPE).sa_handler == handler);
  }
  CHECK(action_of(SIGFPE).sa_handler == fpe.sa_handler);
  CHECK(action_of(SIGSEGV).sa_handler == handler);
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  CHECK(sigismember(&mask, SIGUSR1) == 0);
  sigaction(SIGSEGV, &segv, nullptr);
}

TEST_CASE("guards of several threads put back what was there before the first") {
  const struct sigaction before = action_of(SIGUSR2);
  {
    const SignalGuard first;
    std::signal(SIGUSR2, handler);
    std::thread([] { const SignalGuard second; }).join();
    CHECK(action_of(SIGUSR2).sa_handler == handler);
  }
  CHECK(action_of(SIGUSR2).sa_handler == before.sa_handler);
}

}  // namespace tenon::sdk
