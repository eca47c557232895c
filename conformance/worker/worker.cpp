// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands in, cases run, lines out.
#include "conformance/worker/worker.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

#include "conformance/worker/driver_caches.hpp"
#include "conformance/worker/wire.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
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

void serve_commands(Worker& worker, Channel& channel) {
  for (std::string line; channel.line(line);) {
    std::istringstream in(line);
    std::string verb;
    in >> verb;
    bool goes_on = true;
    if (verb == "probe") {
      channel.send(worker.probe());
      continue;
    }
    if (verb == "range") {
      uint64_t seed = 0, begin = 0, end = 0;
      in >> seed >> begin >> end;
      TN_REQUIRE(!in.fail(), "[worker] expected range SEED BEGIN END, got \"{}\"", line);
      goes_on = worker.run_range(seed, begin, end);
    } else {
      size_t size = 0;
      std::string text;
      in >> size;
      TN_REQUIRE(verb == "text" && !in.fail() && size < kMostText,
                 "[worker] expected text BYTES, got \"{}\"", line);
      if (!channel.bytes(size, text)) return;
      goes_on = worker.run_text(text);
    }
    if (!goes_on) {
      channel.send({"bye", "what the case did to the process stays in it"});
      return;
    }
    channel.send({"idle"});
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
  channel_.send({"begin", std::to_string(test.index), std::to_string(attempt), test.cell.op,
                 test.cell.dtype, test.cell.layout});
}

int serve(const Target& target) {
  confine();
  leave_driver_caches();
  Channel channel;
  try {
    const std::unique_ptr<Worker> worker = make_worker(target, channel);
    channel.send(worker->ready());
    serve_commands(*worker, channel);
    // Like a plugin, its threads are never taken down in order: a driver's exit handlers may hang.
    _exit(0);
  } catch (const std::exception& error) {
    channel.send({"refused", error.what()});
  }
  _exit(0);
}

}  // namespace tenon::conformance
