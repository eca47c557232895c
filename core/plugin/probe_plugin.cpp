// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starts tenon-probe and reads its line.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/plugin/install_paths.hpp"
#include "core/plugin/probe.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostBytes = 1 << 20;
constexpr double kGraceSeconds = 10;  ///< in addition, as tenon-probe itself limits the time

/// A pipe whose ends are closed on exec and by the destructor.
struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      fail(ErrorKind::kEnvironment, "it was not probed: no pipe: {}", std::strerror(errno));
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close(read);
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_write() {
    if (write >= 0) close(write);
    write = -1;
  }
};

pid_t start(const std::filesystem::path& program, const std::filesystem::path& plugin,
            bool selftest, double seconds, const Pipe& result) {
  std::string words[] = {program.string(), plugin.string(), fmt::format("{}", seconds),
                         "--selftest"};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(),
                       selftest ? words[3].data() : nullptr, nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, result.write, kProbeDescriptor);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, kProbeDescriptor + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // Ctrl-C only reaches the program
  pid_t child = -1;
  const int error = posix_spawn(&child, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    fail(ErrorKind::kEnvironment, "it was not probed: {} cannot be started: {}", program.string(),
         std::strerror(error));
  return child;
}

/// Reads until end of file or the deadline.
std::string read_until(int descriptor, Clock::time_point deadline) {
  std::string line;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return line;
    pollfd source{descriptor, POLLIN, 0};
    if (poll(&source, 1, static_cast<int>(std::min<int64_t>(left, 60'000))) <= 0) continue;
    char bytes[4096];
    const ssize_t count = ::read(descriptor, bytes, sizeof bytes);
    if (count == 0 || (count < 0 && errno != EINTR)) return line;
    if (count > 0 && line.size() < kMostBytes) line.append(bytes, static_cast<size_t>(count));
  }
}

ProbeResult ask(const std::filesystem::path& path, bool selftest, double seconds) {
  const std::filesystem::path program = probe_program();
  if (program.empty())
    fail(ErrorKind::kEnvironment,
         "it was not probed: the program tenon-probe is not beside the core library in {}",
         core_folder().string());
  Pipe result;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds + kGraceSeconds));
  const pid_t child = start(program, path, selftest, seconds, result);
  result.close_write();
  const std::string line = read_until(result.read, deadline);
  const bool complete = line.ends_with('\n');
  if (!complete && child > 1) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (complete) return probe_from_json(line);
  ProbeResult answer;
  answer.status = ProbeResult::Status::kUnknown;  // tenon-probe itself failed, not the plugin
  answer.reason =
      WIFSIGNALED(status)
          ? fmt::format("the probe itself was ended by signal {}", WTERMSIG(status))
          : fmt::format("the probe itself gave no answer, exit code {}", WEXITSTATUS(status));
  return answer;
}

}  // namespace

ProbeResult probe_plugin(const std::filesystem::path& path, bool selftest, double timeout_seconds) {
  ProbeResult result;
  try {
    result = ask(path, selftest, timeout_seconds);
  } catch (const std::exception& error) {
    result.status = ProbeResult::Status::kUnknown;
    result.reason = error.what();
  }
  TN_LOG("loader", "probe of {}: {}", path.string(), probe_to_json(result));
  return result;
}

}  // namespace tenon
