// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posix_spawn with the pipes on the descriptors of worker.hpp.
#include "conformance/worker/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "conformance/worker/worker.hpp"
#include "core/support/error.hpp"

extern char** environ;

namespace tenon::conformance {
namespace {

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      fail(ErrorKind::kEnvironment, "[worker] expected a pipe, got: {}", strerror(errno));
    // Above the descriptors that the child uses, so that dup2 never meets its own source.
    read = fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
    write = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    close(ends[0]);
    close(ends[1]);
  }
};

}  // namespace

WorkerProcess::WorkerProcess(const std::string& program, const std::vector<std::string>& arguments,
                             const std::string& log) {
  // A worker that died must show as a failed write.
  signal(SIGPIPE, SIG_IGN);
  const Pipe commands, results;
  command_ = commands.write;
  result_ = results.read;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, commands.read, kCommandFd);
  posix_spawn_file_actions_adddup2(&actions, results.write, kResultFd);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.empty() ? "/dev/null" : log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int error = posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(commands.read);
  close(results.write);
  if (error != 0) {
    pid_ = -1;
    close(command_);
    close(result_);
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
}

bool WorkerProcess::send(const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = write(command_, bytes.data() + sent, bytes.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

bool WorkerProcess::read(double timeout_seconds, std::vector<std::string>& lines) {
  pollfd waiting{result_, POLLIN, 0};
  if (poll(&waiting, 1, static_cast<int>(timeout_seconds * 1000)) <= 0) return true;
  char chunk[1 << 16];
  const ssize_t n = ::read(result_, chunk, sizeof chunk);
  if (n < 0) return errno == EINTR;
  if (n == 0) return false;
  partial_.append(chunk, static_cast<size_t>(n));
  size_t begin = 0;
  for (size_t end; (end = partial_.find('\n', begin)) != partial_.npos; begin = end + 1)
    lines.push_back(partial_.substr(begin, end - begin));
  partial_.erase(0, begin);
  return true;
}

void WorkerProcess::kill() { ::kill(pid_, SIGKILL); }

std::string WorkerProcess::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return name ? std::string("SIG") + name : "signal " + std::to_string(WTERMSIG(status));
  }
  return WEXITSTATUS(status) ? "exit code " + std::to_string(WEXITSTATUS(status)) : "";
}

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace tenon::conformance
