// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/exit_delay.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

namespace tenon {
namespace {

using namespace std::chrono_literals;

std::atomic<bool> is_under_construction{false};

/// As the destructor of a static object that was registered first of several.
void destroy() {
  if (is_under_construction) _exit(7);
}

/// The status of a child that runs `body`.
template <class Body>
int status_of_child(const Body& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(8);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Constructs for a while as a library that is loaded does; then never ends.
void construct(bool with_delay) {
  {
    std::optional<ExitDelay> delay;
    if (with_delay) delay.emplace();
    is_under_construction = true;
    (void)std::atexit(destroy);
    std::this_thread::sleep_for(300ms);
    is_under_construction = false;
  }
  std::this_thread::sleep_for(60s);
}

void wait_for_construction() {
  while (!is_under_construction) std::this_thread::yield();
}

TEST_CASE("exit waits for what another thread constructs") {
  const auto ended_by_main = [](bool with_delay) {
    return status_of_child([&] {
      std::thread(construct, with_delay).detach();
      wait_for_construction();
      std::exit(0);
    });
  };
  CHECK(ended_by_main(true) == 0);
  CHECK(ended_by_main(false) == 7);  // which is why
}

TEST_CASE("exit of any thread that has said so waits, and a thread that ends does not") {
  CHECK(status_of_child([] {
          std::thread(construct, true).detach();
          wait_for_construction();
          const auto begin = std::chrono::steady_clock::now();
          std::thread(wait_in_exit_of_this_thread).join();
          const bool is_still = is_under_construction;
          std::thread([&] {
            wait_in_exit_of_this_thread();
            std::exit(is_still && std::chrono::steady_clock::now() - begin < 10s ? 0 : 9);
          }).join();
        }) == 0);
}

TEST_CASE("exit within a construction, and constructions after exit has begun") {
  CHECK(status_of_child([] {
          const ExitDelay delay;
          std::exit(0);
        }) == 0);
  CHECK(status_of_child([] {
          std::thread([] {
            for (;;) {
              wait_if_exiting();
              const ExitDelay delay;
              is_under_construction = true;
              std::this_thread::sleep_for(1ms);
              is_under_construction = false;
            }
          }).detach();
          wait_for_construction();
          (void)std::atexit([] {
            // The one who ends the process may still construct.
            const ExitDelay delay;
            for (int i = 0; i < 50; ++i, std::this_thread::sleep_for(1ms)) destroy();
          });
          std::exit(0);
        }) == 0);
}

}  // namespace
}  // namespace tenon
