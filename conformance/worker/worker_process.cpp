// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posix_spawn with the pipes on the descriptors of worker.hpp. Boost.Process has no process group
// to end, no sealed memory as output and no end that is waited for with a limit.
#include "conformance/worker/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "conformance/cases/files.hpp"
#include "conformance/worker/channel.hpp"
#include "core/support/error.hpp"
#include "core/support/printable.hpp"

extern char** environ;

namespace tenon::conformance::worker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLongestLine = size_t{16} << 20;
constexpr off_t kMostOutput = 1 << 20, kTail = 2048;
constexpr size_t kMostWords = 200;
constexpr double kSendSeconds = 10;
constexpr double kEndSeconds = 2;    ///< from the end of the pipe to that of the process
constexpr double kKillSeconds = 10;  ///< a driver may hold it in the kernel

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      fail(ErrorKind::kEnvironment, "[worker] expected a pipe, got: {}", strerror(errno));
    // Above the descriptors that the child uses, so that dup2 never overwrites its own source.
    read = fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
    write = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    close(ends[0]);
    close(ends[1]);
  }
};

/// For what a process writes: the log, or memory of a fixed size, beyond which writes fail.
int open_output(const std::string& log) {
  if (!log.empty()) return open(log.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const int fd = memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (ftruncate(fd, kMostOutput) == 0) fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK);
  return fd;
}

}  // namespace

WorkerProcess::WorkerProcess(const std::string& program, const std::vector<std::string>& arguments,
                             const std::string& log) {
  // A worker that died must show as a failed write.
  signal(SIGPIPE, SIG_IGN);
  const Pipe commands, results;
  command_ = commands.write;
  fcntl(command_, F_SETFL, O_NONBLOCK);
  result_ = results.read;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, commands.read, kCommandFd);
  posix_spawn_file_actions_adddup2(&actions, results.write, kResultFd);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  // Above what the child uses, as the pipes are.
  const int opened = open_output(log);
  output_ = fcntl(opened, F_DUPFD_CLOEXEC, 10);
  close(opened);
  output_begin_ = lseek(output_, 0, log.empty() ? SEEK_SET : SEEK_END);
  posix_spawn_file_actions_adddup2(&actions, output_, 1);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error =
      posix_spawn(&pid_, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(commands.read);
  close(results.write);
  if (error != 0) {
    pid_ = -1;
    close(command_);
    close(result_);
    close(output_);
    fail(ErrorKind::kEnvironment, "[worker] expected to start {}, got: {}", program,
         strerror(error));
  }
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) {
    kill();
    wait();
  }
  close(command_);
  close(result_);
  close(output_);
}

bool WorkerProcess::send(const std::string& bytes) {
  const auto begin = Clock::now();
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = write(command_, bytes.data() + sent, bytes.size() - sent);
    if (n > 0) {
      sent += static_cast<size_t>(n);
      continue;
    }
    if (n < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (seconds_since(begin) > kSendSeconds || ended()) return false;
    pollfd waiting{command_, POLLOUT, 0};
    poll(&waiting, 1, 100);
  }
  return true;
}

bool WorkerProcess::read(double timeout_seconds, std::vector<std::string>& lines) {
  pollfd waiting{result_, POLLIN, 0};
  // A child of the plugin's may hold the pipe open for longer than the process lives.
  if (poll(&waiting, 1, static_cast<int>(timeout_seconds * 1000)) <= 0) return !ended();
  char chunk[1 << 16];
  const ssize_t n = ::read(result_, chunk, sizeof chunk);
  if (n < 0) return errno == EINTR;
  if (n == 0) return false;
  partial_.append(chunk, static_cast<size_t>(n));
  size_t begin = 0;
  for (size_t end; (end = partial_.find('\n', begin)) != partial_.npos; begin = end + 1)
    lines.push_back(partial_.substr(begin, end - begin));
  partial_.erase(0, begin);
  if (partial_.size() > kLongestLine) {
    lines.push_back(std::move(partial_));
    partial_.clear();
  }
  return true;
}

bool WorkerProcess::ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

bool WorkerProcess::ended_within(double seconds) const {
  for (const auto begin = Clock::now(); !ended();) {
    if (seconds_since(begin) > seconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

uint64_t WorkerProcess::memory_mib() const { return resident_bytes(std::to_string(pid_)) >> 20; }

void WorkerProcess::kill() {
  if (pid_ <= 1) return;  // -1 would be every process there is
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
}

WorkerProcess::End WorkerProcess::wait() {
  const bool lives_on = !ended_within(kEndSeconds);
  if (lives_on) kill();
  if (!ended_within(kKillSeconds)) {
    pid_ = -1;
    return {"protocol", "the process cannot be killed: its driver holds it"};
  }
  kill();  // what it has started
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (lives_on) return {"protocol", "the plugin closed the pipes of its process"};
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    const std::string text =
        name ? std::string("SIG") + name : "signal " + std::to_string(WTERMSIG(status));
    return {text, text};
  }
  if (WEXITSTATUS(status) == kExitNoPipe)
    return {"protocol", "the plugin closed the pipes of its process"};
  return {"exit", fmt::format("exit with code {}", WEXITSTATUS(status))};
}

std::string WorkerProcess::last_words() const {
  const off_t end = lseek(output_, 0, SEEK_CUR);  // of what it shares with the process
  std::string text(static_cast<size_t>(std::clamp<off_t>(end - output_begin_, 0, kTail)), '\0');
  const ssize_t size =
      pread(output_, text.data(), text.size(), end - static_cast<off_t>(text.size()));
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
  return printable(text.substr(text.rfind('\n') + 1)).substr(0, kMostWords);
}

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace tenon::conformance::worker
