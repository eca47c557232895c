// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A limit on work: hard for what sleeps, patient with what waits for a processor.
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <thread>

#include "conformance/worker/watchdog.hpp"

using namespace tenon::conformance;
using namespace tenon::conformance::worker;

namespace {

/// A process that runs `body` until the end of the scope.
class Child {
 public:
  explicit Child(void (*body)()) : pid_(fork()) {
    if (pid_ == 0) {
      body();
      _exit(0);
    }
  }
  ~Child() {
    if (pid_ <= 1) return;  // -1 would be every process there is
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  int pid() const { return pid_; }

 private:
  int pid_;
};

/// On the first processor that this process may use.
void spin() {
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all)) {
      CPU_SET(cpu, &one);
      break;
    }
  sched_setaffinity(0, sizeof one, &one);
  for (volatile int forever = 1; forever;) {
  }
}

void spin_meekly() {
  setpriority(PRIO_PROCESS, 0, 19);
  spin();
}

void doze() {
  for (;;) pause();
}

/// How often the limit moved before the process was late.
int moves(int pid, double limit) {
  Watchdog watchdog;
  watchdog.expect_within(limit);
  for (int moved = 0;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    watchdog.look(pid);
    if (watchdog.seconds_left() > 0) continue;
    if (watchdog.is_late(pid)) return moved;
    ++moved;
  }
}

}  // namespace

TEST_CASE("who sleeps is late at the limit") {
  const Child child(doze);
  CHECK(moves(child.pid(), 0.4) == 0);
}

TEST_CASE("who waits for a processor gets that time on top, to an end") {
  const Child meek(spin_meekly), loud(spin);
  if (processor_times(meek.pid()).empty()) SKIP("the system does not count how long threads wait");
  const auto begin = std::chrono::steady_clock::now();
  CHECK(moves(meek.pid(), 0.6) > 0);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  CHECK(passed.count() > 0.8);
  CHECK(passed.count() < 0.6 * Watchdog::kPatience + 5);  // the machine may be loaded
}

TEST_CASE("a process that is gone has no times") {
  int pid = 0;
  {
    const Child child(doze);
    pid = child.pid();
  }
  CHECK(processor_times(pid).empty());
}
