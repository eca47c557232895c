// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The threads of a device: each item once, failures, many threads on few cores, sleep and end.
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <ctime>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "plugins/cpu/team.hpp"

namespace tenon::cpu {
namespace {

using namespace std::chrono_literals;

/// How often each item was done; -1 somewhere if a slot or range was out of bounds.
std::vector<int> times_done(Team& team, uint64_t count, uint64_t chunk) {
  std::vector<std::atomic<int>> times(count);
  std::atomic<bool> is_wrong{false};
  team.run(count, chunk, [&](uint64_t begin, uint64_t end, unsigned slot) {
    if (begin >= end || end > count || end - begin > chunk || slot >= team.threads())
      is_wrong = true;
    for (uint64_t i = begin; i < end; ++i) ++times[i];
  });
  std::vector<int> out(times.begin(), times.end());
  if (is_wrong) out.push_back(-1);
  return out;
}

uint64_t sum_of(Team& team, uint64_t count, uint64_t chunk) {
  std::atomic<uint64_t> sum{0};
  team.run(count, chunk, [&](uint64_t begin, uint64_t end, unsigned) {
    for (uint64_t i = begin; i < end; ++i) sum += i + 1;
  });
  return sum;
}

int threads_of_process() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Threads:")) return std::stoi(line.substr(8));
  return -1;
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Until each of them has taken a part.
void meet(Team& team) {
  std::atomic<unsigned> here{0};
  team.run(team.threads(), 1, [&](uint64_t, uint64_t, unsigned) {
    ++here;
    while (here < team.threads()) std::this_thread::yield();
  });
}

template <class Condition>
bool eventually(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  return condition();
}

bool falls_asleep(const Team& team) {
  return eventually([&] { return !team.is_awake(); });
}

/// The exit status of `action` in a child made by fork; -1 if it was killed, after 20 s too.
template <class Action>
int in_child(const Action& action) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(action() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a team does each item once, whatever its number of threads and chunks") {
  for (unsigned threads = 1; threads <= 8; ++threads) {
    Team team(threads);
    for (const uint64_t count : {0, 1, 2, 7, 64, 1000, 4099})
      for (const uint64_t chunk : {1, 3, 64, 10000}) {
        CAPTURE(threads, count, chunk);
        CHECK(times_done(team, count, chunk) == std::vector<int>(count, 1));
      }
  }
}

TEST_CASE("a team takes counts beyond 32 bits") {
  Team team(3);
  const uint64_t count = (uint64_t{5} << 32) + 3;
  std::mutex mutex;
  std::set<std::pair<uint64_t, uint64_t>> ranges;
  team.run(count, uint64_t{1} << 30, [&](uint64_t begin, uint64_t end, unsigned) {
    const std::lock_guard lock(mutex);
    ranges.emplace(begin, end);
  });
  uint64_t at = 0;
  for (const auto& [begin, end] : ranges) {
    CHECK(begin == at);
    at = end;
  }
  CHECK(at == count);
  CHECK(ranges.size() == 21);
}

TEST_CASE("ranges of a team follow each other, each with what the one before wrote") {
  for (const unsigned threads : {2u, 4u}) {
    Team team(threads);
    std::vector<uint64_t> a(257, 1), b(257, 0);
    for (int round = 0; round < 20000; ++round) {
      // No atomics here: the end of a range is all that orders them.
      team.run(a.size(), 16, [&](uint64_t begin, uint64_t end, unsigned) {
        for (uint64_t i = begin; i < end; ++i) b[i] = a[a.size() - 1 - i] + 1;
      });
      a.swap(b);
    }
    CHECK(a == std::vector<uint64_t>(257, 20001));
  }
}

TEST_CASE("all threads of a team take part, each in its own slot") {
  Team team(4);
  std::atomic<unsigned> here{0};
  std::mutex mutex;
  std::set<unsigned> slots;
  std::set<std::thread::id> ids;
  team.run(4, 1, [&](uint64_t, uint64_t, unsigned slot) {
    ++here;
    while (here < 4) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    slots.insert(slot);
    ids.insert(std::this_thread::get_id());
    if (slot == 0 && ids.size() == 4) CHECK(threads_of_process() >= 4);
  });
  CHECK(slots == std::set<unsigned>{0, 1, 2, 3});
  CHECK(ids.size() == 4);
  CHECK(ids.contains(std::this_thread::get_id()));
}

TEST_CASE("nobody waits for a thread that comes late") {
  Team team(2);
  meet(team);
  std::atomic<uint64_t> others{0};
  std::atomic<bool> is_held{false};
  // Whoever has the first item holds it until all other items are done, its own share too.
  team.run(100, 1, [&](uint64_t begin, uint64_t, unsigned) {
    if (begin == 0) {
      is_held = true;
      while (others < 99) std::this_thread::yield();
    } else {
      while (!is_held) std::this_thread::yield();
      ++others;
    }
  });
  CHECK(others == 99);
}

TEST_CASE("what a body throws arrives, and the team goes on") {
  for (const unsigned threads : {1u, 2u, 5u}) {
    Team team(threads);
    for (const uint64_t bad : {0, 49, 99}) {
      const auto work = [&](uint64_t begin, uint64_t, unsigned) {
        if (begin == bad) throw std::runtime_error("item " + std::to_string(bad));
      };
      CAPTURE(threads, bad);
      std::string message;
      try {
        team.run(100, 1, work);
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      CHECK(message == "item " + std::to_string(bad));
      CHECK(sum_of(team, 100, 1) == 5050);
    }
    CHECK_THROWS_AS(team.run(100, 1, [](uint64_t, uint64_t, unsigned) { throw 1; }), int);
    CHECK(sum_of(team, 100, 1) == 5050);
  }
}

TEST_CASE("a team in a body of another, and teams beside each other") {
  Team outer(3);
  std::atomic<uint64_t> sum{0};
  outer.run(6, 1, [&](uint64_t, uint64_t, unsigned) {
    Team inner(2);
    sum += sum_of(inner, 100, 7);
  });
  CHECK(sum == 6 * 5050);

  std::vector<std::jthread> callers;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      Team team(3);
      for (int round = 0; round < 500; ++round) right += sum_of(team, 100, 7) == 5050;
    });
  callers.clear();
  CHECK(right == 2000);
}

TEST_CASE("callers of a team take turns") {
  Team team(2);
  for (int i = 0; i < 50; ++i)
    std::jthread([&] { CHECK(sum_of(team, 1000, 10) == 500500); }).join();
}

TEST_CASE("a team that has nothing to do sleeps, and wakes again") {
  Team team(4);
  CHECK_FALSE(team.is_awake());
  for (int round = 0; round < 3; ++round) {
    team.wake();
    meet(team);
    CHECK(falls_asleep(team));
    const double before = cpu_seconds();
    std::this_thread::sleep_for(200ms);
    CHECK(cpu_seconds() - before < 0.02);
    CHECK(sum_of(team, 1000, 10) == 500500);
  }
}

TEST_CASE("threads of a team leave each other's cores, and are bound to none") {
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  if (CPU_COUNT(&all) < 2) SKIP("one core");
  Team team(2);
  int callers = -1, members = -1;
  bool is_bound = false;
  const auto look = [&](bool moves) {
    std::atomic<unsigned> here{0};
    team.run(2, 1, [&](uint64_t, uint64_t, unsigned slot) {
      if (slot == 0) callers = sched_getcpu();
      ++here;
      while (here < 2) std::this_thread::yield();
      if (slot == 0) return;
      cpu_set_t own;
      is_bound = sched_getaffinity(0, sizeof own, &own) != 0 || !CPU_EQUAL(&own, &all);
      members = sched_getcpu();
      if (!moves) return;
      CPU_ZERO(&own);
      CPU_SET(callers, &own);
      sched_setaffinity(0, sizeof own, &own);
      sched_setaffinity(0, sizeof all, &all);
    });
  };
  int apart = 0;
  for (int round = 0; round < 20; ++round) {
    look(true);
    CHECK(falls_asleep(team));
    team.wake();
    for (int i = 0; i < 100; ++i) {
      look(false);
      CHECK_FALSE(is_bound);
      apart += callers != members;
    }
  }
  CHECK(apart > 1000);
}

TEST_CASE("each thread of a team tells when it goes to sleep") {
  std::atomic<int> calls{0};
  Team team(3, [&] { ++calls; });
  CHECK(sum_of(team, 1000, 10) == 500500);
  CHECK(eventually([&] { return calls >= 2 && !team.is_awake(); }));
  const int before = calls;
  team.wake();
  CHECK(eventually([&] { return calls >= before + 2 && !team.is_awake(); }));
}

TEST_CASE("a team ends: unused, just woken, at work a moment ago, asleep") {
  const int before = threads_of_process();
  for (int round = 0; round < 200; ++round) {
    Team unused(4);
    Team woken(4);
    woken.wake();
    auto busy = std::make_unique<Team>(4);
    CHECK(sum_of(*busy, 100, 1) == 5050);
    if (round % 50 == 0) std::this_thread::sleep_for(5ms);
    busy.reset();
    Team late(2);  // its member may still be at the range before the last when it ends
    for (int i = 0; i < 50; ++i) late.run(1, 1, [](uint64_t, uint64_t, unsigned) {});
  }
  CHECK(threads_of_process() == before);
}

#ifndef __SANITIZE_THREAD__  // it refuses threads of such a child
TEST_CASE("a child made by fork has teams of its own") {
  Team team(3);
  CHECK(sum_of(team, 1000, 1) == 500500);
  for (const auto rest : {0ms, 5ms}) {  // while the members watch, and while they sleep
    std::this_thread::sleep_for(rest);
    CHECK(in_child([] {
            Team own(3);
            meet(own);
            return sum_of(own, 1000, 1) == 500500;
          }) == 0);
    CHECK(sum_of(team, 1000, 1) == 500500);
  }
}

#ifndef __SANITIZE_ADDRESS__  // it needs address space itself
TEST_CASE("a team without threads to be had computes with those that it has") {
  CHECK(in_child([] {
          // No room for stacks but those that the C library has kept.
          rlimit limit{};
          getrlimit(RLIMIT_AS, &limit);
          std::ifstream sizes("/proc/self/statm");
          rlim_t pages = 0;
          sizes >> pages;
          limit.rlim_cur = (pages + 256) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
          setrlimit(RLIMIT_AS, &limit);
          Team team(64);
          team.wake();
          const bool is_right = sum_of(team, 1000, 1) == 500500 && sum_of(team, 7, 2) == 28;
          return is_right && threads_of_process() < 16;
        }) == 0);
}
#endif
#endif

}  // namespace tenon::cpu
