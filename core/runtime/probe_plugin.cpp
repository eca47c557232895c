// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parent's side of a probe: starts tenon-probe, listens, and ends it when its time is up.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/runtime/install_paths.hpp"
#include "core/runtime/plugin_library.hpp"
#include "core/runtime/probe.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"

extern char** environ;

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kResultDescriptor = 3;
constexpr size_t kMostBytes = 1 << 20;
constexpr int kProbeSchema = 2;  ///< of what a remembered probe asked

/// Both ends closed on exec and at the end of the scope.
struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      fail(ErrorKind::kEnvironment, "no pipe: {}", std::strerror(errno));
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
            bool selftest, const Pipe& result, const Pipe& errors) {
  std::string file = plugin.string(), flag = "--selftest", name = program.string();
  char* arguments[] = {name.data(), file.data(), selftest ? flag.data() : nullptr, nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, result.write, kResultDescriptor);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // so that its children end too
  pid_t child = -1;
  const int error = posix_spawn(&child, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    fail(ErrorKind::kEnvironment, "{} cannot be started: {}", program.string(),
         std::strerror(error));
  return child;
}

/// Reads what there is; false at the end.
bool drain(int descriptor, std::string& into) {
  char bytes[4096];
  const ssize_t count = ::read(descriptor, bytes, sizeof bytes);
  if (count <= 0) return count < 0 && errno == EINTR;
  if (into.size() < kMostBytes) into.append(bytes, static_cast<size_t>(count));
  return true;
}

/// True when the child has said its line or ended, false when time is up.
bool listen(const Pipe& result, const Pipe& errors, Clock::time_point deadline, std::string& line,
            std::string& printed) {
  pollfd sources[] = {{result.read, POLLIN, 0}, {errors.read, POLLIN, 0}};
  while (sources[0].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    const int ready = poll(sources, 2, static_cast<int>(std::min<int64_t>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    if (sources[0].revents && !drain(result.read, line)) sources[0].fd = -1;
    if (sources[1].revents && !drain(errors.read, printed)) sources[1].fd = -1;
    if (!line.empty() && line.back() == '\n') return true;
  }
  return true;
}

std::string last_words(const std::string& printed) {
  const size_t end = printed.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return "";
  const size_t line = printed.find_last_of('\n', end);
  const size_t begin = line == std::string::npos ? 0 : line + 1;
  return "; its last words: " + printed.substr(begin, std::min<size_t>(end + 1 - begin, 200));
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

ProbeResult ask(const std::filesystem::path& path, bool selftest, double timeout_seconds) {
  const std::filesystem::path program = probe_program();
  if (program.empty())
    fail(ErrorKind::kEnvironment, "the program tenon-probe is not beside the core library in {}",
         core_folder().string());
  Pipe result, errors;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(timeout_seconds));
  const pid_t child = start(program, path, selftest, result, errors);
  result.close_write();
  errors.close_write();
  std::string line, printed;
  const bool in_time = listen(result, errors, deadline, line, printed);
  const bool complete = !line.empty() && line.back() == '\n';
  if (!in_time || complete) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (complete) return probe_from_json(line);
  ProbeResult answer;
  if (!in_time) {
    answer.status = ProbeResult::Status::kTimeout;
    answer.reason = fmt::format("no answer in {} seconds{}", timeout_seconds, last_words(printed));
  } else {
    answer.status = ProbeResult::Status::kCrashed;
    answer.reason =
        (WIFSIGNALED(status) ? fmt::format("ended by {}", signal_name(WTERMSIG(status)))
                             : fmt::format("ended with exit code {}", WEXITSTATUS(status))) +
        last_words(printed);
  }
  return answer;
}

}  // namespace

ProbeResult probe_plugin(const std::filesystem::path& path, bool selftest, double timeout_seconds) {
  try {
    ProbeResult result = ask(path, selftest, timeout_seconds);
    TN_LOG("loader", "probe of {}: {}", path.string(), probe_to_json(result));
    return result;
  } catch (const std::exception& error) {
    ProbeResult result;
    result.reason = error.what();
    return result;
  }
}

ProbeResult probe_cached(const std::filesystem::path& path, DiskCache& cache) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  const std::string key = fmt::format("probe | {} | {} | {} | {}", kProbeSchema, TN_ABI_VERSION,
                                      (error ? path : real).string(), file_identity(path));
  const auto hour = std::chrono::duration_cast<std::chrono::hours>(
      std::chrono::system_clock::now().time_since_epoch());
  const std::string this_hour = fmt::format("{} | hour {}", key, hour.count());
  for (const std::string& name : {key, this_hour}) {
    const auto bytes = cache.get(name);
    if (!bytes) continue;
    try {
      return probe_from_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    } catch (const Error&) {
      cache.remove(name);
    }
  }
  const ProbeResult result = probe_plugin(path, /*selftest=*/true);
  // What depends on the file alone, or is confirmed when the device is opened, is kept. A plugin
  // that hung is left alone for an hour, as the machine may have been slow. A driver can come any
  // time, and a device can recover: what found none or failed its self-test is asked again.
  const bool has_devices = result.status == ProbeResult::Status::kOk && !result.devices.empty() &&
                           std::ranges::all_of(result.devices, &ProbedDevice::selftest_ok);
  const bool hung = result.status == ProbeResult::Status::kTimeout;
  if (has_devices || hung || result.status == ProbeResult::Status::kCrashed) {
    const std::string line = probe_to_json(result);
    cache.put(hung ? this_hour : key, {line.begin(), line.end()});
  }
  return result;
}

}  // namespace tenon
