// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands in, cases run, lines out.
#include "conformance/worker/worker.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "conformance/abi/call_watch.hpp"
#include "conformance/worker/driver_caches.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::worker {
namespace {

constexpr size_t kMostText = size_t{1} << 28;

/// Nothing of a worker outlives its parent, is dumped, or drags others down for want of memory.
void confine() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); fd >= 0) {
    [[maybe_unused]] const ssize_t written = write(fd, "1000", 4);
    close(fd);
  }
}

/// A plugin that calls exit() while threads are in its calls: without this its static objects are
/// taken from under them, and what is told is a crash of theirs. Of use once it is loaded, as the
/// last handler is the first that runs.
void make_exit_immediate() {
  on_exit([](int code, void*) { _exit(code); }, nullptr);
}

/// False when the process is of no more use, or the parent is gone.
bool obey(const Command& command, Worker& worker, Channel& channel) {
  if (const auto* range = std::get_if<RunRange>(&command))
    return worker.run_range(range->seed, range->begin, range->end);
  const uint64_t bytes = std::get<RunText>(command).bytes;
  TN_REQUIRE(bytes < kMostText, "[worker] expected at most {} bytes, got {}", kMostText, bytes);
  std::string text;
  return channel.bytes(bytes, text) && worker.run_text(text);
}

void serve_commands(Worker& worker, Channel& channel) {
  for (std::string line; channel.line(line);) {
    const std::optional<Command> command = read_command(line);
    TN_REQUIRE(command, "[worker] expected a command, got \"{}\"", line);
    if (std::holds_alternative<RunProbe>(*command)) {
      channel.send(worker.probe());
    } else if (obey(*command, worker, channel)) {
      channel.send(Idle{});
    } else {
      channel.send(Bye{"what the case did to the process stays in it"});
      return;
    }
  }
}

/// A device that cannot be opened to compute may hold memory.
std::unique_ptr<Worker> make_worker(const Target& target, Channel& channel) {
  if (!target.name.empty()) return make_compile_worker(target, channel);
  try {
    return make_run_worker(target, channel);
  } catch (const Error&) {
    if (auto worker = make_memory_worker(target, channel)) return worker;
    throw;
  }
}

}  // namespace

void Worker::announce(const Case& test, uint64_t attempt) {
  channel_.send(Begun{test.index, attempt, test.cell});
}

int serve(const Target& target) {
  confine();
  leave_driver_caches();
  Channel channel;
  if (target.name.empty()) abi::catch_standard_output();  // there is a device
  try {
    const std::unique_ptr<Worker> worker = make_worker(target, channel);
    make_exit_immediate();
    channel.send(Ready{worker->facts()});
    serve_commands(*worker, channel);
    // Like a plugin, its threads are never taken down in order: a driver's exit handlers may hang.
    _exit(0);
  } catch (const std::exception& error) {
    channel.send(Refused{error.what()});
  }
  _exit(0);
}

}  // namespace tenon::conformance::worker
