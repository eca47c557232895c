// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What fork waits for.
#include "core/support/process.hpp"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include "core/support/fork_handlers.hpp"

using namespace tenon;

namespace {

constexpr int kTries = 20;  ///< of other threads to come in between

/// What `action` gives in a child.
int in_child(const std::function<int()>& action) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(action());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("fork waits for what other threads hold") {
  std::latch inside(1);
  std::atomic<int> state = 0;
  std::thread other([&] {
    const ForkHold hold;
    state = 1;
    inside.count_down();
    for (int i = 0; i < kTries; ++i) {
      const ForkHold nested;
      std::this_thread::yield();
    }
    state = 2;
  });
  inside.wait();
  const int seen = in_child([&] {
    const ForkHold again;  // nobody has it in a child
    return state.load();
  });
  other.join();
  CHECK(seen == 2);
}

TEST_CASE("what others handed over is let go of outside of holds") {
  int order = 0, first = 0, second = 0;
  const auto owner = [&](int& when, const std::function<void()>& then = {}) {
    return std::shared_ptr<void>(&when, [&order, then](void* at) {
      *static_cast<int*>(at) = ++order;
      if (then) then();
    });
  };
  {
    const ForkHold hold;
    {
      const ForkHold nested;
      release_outside_holds(owner(first, [&] {
        const ForkHold again;  // as one that calls Tenon
        release_outside_holds(owner(second));
      }));
    }
    CHECK(order == 0);
    std::thread([] {
      const WithinForkHold within;
      const ForkHold of_it;
    }).join();
    CHECK(order == 0);
  }
  CHECK(first == 1);
  CHECK(second == 2);
  const ForkHold hold;
  release_outside_holds(owner(first));
  CHECK(in_child([&] {
          { const ForkHold of_child; }
          std::thread([] { const ForkHold other; }).join();
          return order;
        }) == 2);
}

TEST_CASE("fork does not wait for what the forking thread holds") {
  const ForkHold hold;
  CHECK(in_child([] {
          const ForkHold nested;
          return in_child([] { return 3; });
        }) == 3);
}

TEST_CASE("a thread within another's hold may fork, and its child may again") {
  std::latch inside(1), end(1);
  std::thread holder([&] {
    const ForkHold hold;
    inside.count_down();
    end.wait();
  });
  inside.wait();
  std::optional<WithinForkHold> within(std::in_place);
  const int seen = in_child([&] {
    within.reset();
    alarm(60);  // that waits for a hold which nobody leaves
    return in_child([] { return 6; });
  });
  within.reset();
  end.count_down();
  holder.join();
  CHECK(seen == 6);
}

TEST_CASE("fork waits for holds before a driver prepares, which may lock what they wait for") {
  static std::atomic<int> state = 0, seen = 0, parents = 0, children = 0;
  REQUIRE(pthread_atfork([] { seen = state.load(); }, [] { ++parents; }, [] { ++children; }) == 0);
  register_fork_handlers();
  std::latch inside(1);
  std::thread holder([&] {
    const ForkHold hold;
    state = 1;
    inside.count_down();
    for (int i = 0; i < kTries && seen == 0; ++i) std::this_thread::yield();
    state = 2;
  });
  inside.wait();
  CHECK(in_child([] {
          const ForkHold hold;  // nobody has it in a child
          return in_child([] { return 10 * seen + children; });
        }) == 22);
  holder.join();
  CHECK(seen == 2);
  CHECK(parents == 1);
  CHECK(in_child([] { return 7; }) == 7);  // what the first did is undone
}

TEST_CASE("threads that hold by turns do not keep fork from coming") {
  std::atomic<bool> stop = false;
  std::atomic<int> holds = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!stop) {
        const ForkHold hold;
        // Left when another thread has come, if one does.
        const int before = holds++;
        for (int i = 0; i < kTries && holds == before + 1 && !stop; ++i) std::this_thread::yield();
      }
    });
  for (int i = 0; i < 3; ++i) CHECK(in_child([] { return 4; }) == 4);
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("a thread that works for one in a hold is not kept back") {
  std::latch inside(1);
  std::atomic<int> state = 0;
  std::thread holder([&] {
    const ForkHold hold;
    inside.count_down();
    for (int i = 0; i < kTries; ++i) std::this_thread::yield();
    std::thread([&] {
      const WithinForkHold within;
      const ForkHold nested;
      state = 5;
    }).join();
  });
  inside.wait();
  CHECK(in_child([&] { return state.load(); }) == 5);
  holder.join();
}

TEST_CASE("a fork that waits already heeds what is to be called at it") {
  static std::atomic<int> before = 0, child = 0;
  std::latch inside(1);
  std::thread holder([&] {
    const ForkHold hold;
    inside.count_down();
    for (int i = 0; i < kTries; ++i) std::this_thread::yield();
    at_fork([] { ++before; }, [] { ++child; });
  });
  inside.wait();
  CHECK(in_child([] { return 10 * before + child; }) == 11);
  holder.join();
  at_fork(nullptr, nullptr);
  CHECK(in_child([] { return 10 * before + child; }) == 10);
}
