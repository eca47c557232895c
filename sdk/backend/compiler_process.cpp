// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The folder is removed by a child, the janitor, that waits for the end of a socket: it comes when
// the object is destroyed and when this process dies. Children are started by posix_spawn, as a
// process with threads may not run code of its own after fork. A child's status comes in a file of
// the folder, as a host may ignore SIGCHLD or wait for all children itself.
#include "sdk/backend/compiler_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>

#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

constexpr size_t kMostText = 16384;
constexpr std::string_view kStatus = "status";
constexpr int kFirstFree = STDERR_FILENO + 1;

[[noreturn]] void fail(const std::string& name, const char* what, int error) {
  throw Failure(TN_ERROR_IO, fmt::format("{}: {}: {}", name, what, std::strerror(error)));
}

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void close() {
    if (number >= 0) ::close(std::exchange(number, -1));
  }
  int number;
};

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void open_null(int to, int flags) {
    posix_spawn_file_actions_addopen(&actions_, to, "/dev/null", flags, 0);
  }
  void enter(const std::string& folder) {
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  void close_from(int first) { posix_spawn_file_actions_addclosefrom_np(&actions_, first); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// The environment in the locale C, with `folder` for temporary files.
std::vector<std::string> environment_in(const std::string& folder) {
  std::vector<std::string> out{"LC_ALL=C", "TMPDIR=" + folder};
  for (char** each = environ; *each; ++each) {
    const std::string_view entry = *each;
    const bool is_ours = entry.starts_with("LC_") || entry.starts_with("LANG=") ||
                         entry.starts_with("LANGUAGE=") || entry.starts_with("TMPDIR=");
    if (!is_ours) out.emplace_back(entry);
  }
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// `sh -c script` with $0 and $@, in a process group of its own, without our signals. Returns the
/// number of the process, or minus an error.
pid_t spawn_shell(const char* script, std::span<const std::string> words, const std::string& folder,
                  const FileActions& files) {
  std::vector<std::string> arguments{"sh", "-c", script};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<std::string> environment = environment_in(folder);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);  // so that Ctrl-C reaches this process alone
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int error = posix_spawn(&child, "/bin/sh", files.get(), &attributes,
                                pointers_to(arguments).data(), pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  return error ? -error : child;
}

/// Waits for a child that may have been waited for by others.
void reap(pid_t child) {
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// Whether a child has ended. It stays to be reaped, so that its number is not another's.
bool has_ended(pid_t child) {
  siginfo_t info{};
  const int got = waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return got == 0 ? info.si_pid == child : errno == ECHILD;
}

using Clock = std::chrono::steady_clock;

/// What the child writes until it ends; false if that is not by `deadline`. The end of the pipe
/// does not tell: a process that the host forks meanwhile has it open too.
bool read_text(int from, pid_t child, Clock::time_point deadline, std::string& text) {
  constexpr int kTick = 5;  // ms
  pollfd ready{from, POLLIN, 0};
  for (bool is_done = false;;) {
    const bool is_late = Clock::now() >= deadline;
    const int got = poll(&ready, 1, is_done || is_late ? 0 : kTick);
    if (got > 0) {
      std::array<char, 4096> part;
      const ssize_t size = ::read(from, part.data(), part.size());
      if (size > 0)
        text.append(part.data(), std::min(static_cast<size_t>(size), kMostText - text.size()));
      else if (size == 0)
        ready.fd = -1;  // poll only waits from here
    }
    if (is_late || (is_done && got <= 0)) return is_done;
    if (!is_done) is_done = has_ended(child);
  }
}

}  // namespace

CompilerProcess::CompilerProcess(std::string name) : name_(std::move(name)) {
  const char* below = secure_getenv("TMPDIR");
  const std::string begin = fmt::format("{}/tenon-{}-", below && *below ? below : "/tmp", name_);
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) fail(name_, "socketpair", errno);
  control_ = ends[0];
  Descriptor theirs(ends[1]);
  FileActions files;
  files.duplicate(theirs.number, STDIN_FILENO);
  files.duplicate(theirs.number, STDOUT_FILENO);
  files.open_null(STDERR_FILENO, O_WRONLY);
  files.close_from(kFirstFree);
  // The janitor makes the folder, so that none is left if this process dies here, and says which.
  // Then a line is the process group that runs in it, or empty.
  const std::string words[] = {begin + "XXXXXX"};
  janitor_ = spawn_shell(
      R"(trap '' PIPE; d=$(mktemp -d "$0" 2>&1); s=$?; echo "$d"; [ $s = 0 ] || exit 1
g=; while read -r l; do g=$l; done; [ -z "$g" ] || kill -s KILL -- "-$g"; exec rm -rf -- "$d")",
      words, "/tmp", files);
  theirs.close();
  if (janitor_ < 0) {
    ::close(control_);
    fail(name_, "/bin/sh", -janitor_);
  }
  for (char letter = 0; letter != '\n';) {
    const ssize_t size = ::read(control_, &letter, 1);
    if (size == 0 || (size < 0 && errno != EINTR)) break;
    if (size == 1 && letter != '\n') folder_ += letter;
  }
  if (folder_.starts_with(begin)) return;
  ::close(control_);
  reap(janitor_);
  throw Failure(TN_ERROR_IO, fmt::format("{}: cannot make {}: {}", name_, words[0], folder_));
}

CompilerProcess::~CompilerProcess() {
  shutdown(control_, SHUT_RDWR);  // a process that the host forked may have it open too
  ::close(control_);
  reap(janitor_);
}

void CompilerProcess::write(const std::string& file, std::span<const std::byte> bytes) const {
  std::ofstream out(folder_ + "/" + file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) fail(name_, ("cannot write " + folder_ + "/" + file).c_str(), errno);
}

std::vector<std::byte> CompilerProcess::read(const std::string& file) const {
  std::ifstream in(folder_ + "/" + file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) fail(name_, ("cannot read " + folder_ + "/" + file).c_str(), errno);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string CompilerProcess::run(std::span<const std::string> command,
                                 std::chrono::milliseconds limit) const {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC)) fail(name_, "pipe", errno);
  const Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  FileActions files;
  files.enter(folder_);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) files.duplicate(theirs.number, output);
  files.open_null(STDIN_FILENO, O_RDONLY);
  files.duplicate(control_, kFirstFree);
  files.close_from(kFirstFree + 1);
  std::vector<std::string> words{std::string(kStatus)};
  words.insert(words.end(), command.begin(), command.end());
  unlink((folder_ + "/" + words[0]).c_str());
  // The child says itself which it is: this process may die as soon as it runs.
  const pid_t child =
      spawn_shell(R"(echo $$ >&3; exec 3>&-; "$@"; echo $? > "$0")", words, folder_, files);
  if (child < 0) fail(name_, "/bin/sh", -child);
  theirs.close();
  std::string text;
  const bool is_done = read_text(ours.number, child, Clock::now() + limit, text);
  if (!is_done ||
      waitid(P_PID, static_cast<id_t>(child), nullptr, WEXITED | WNOHANG | WNOWAIT) == 0)
    kill(-child, SIGKILL);  // what it left behind, too
  reap(child);
  (void)send(control_, "\n", 1, MSG_NOSIGNAL);
  if (!is_done) {
    throw Failure(TN_ERROR_TIMEOUT, fmt::format("{}: {} did not end in {:g} s", name_, command[0],
                                                static_cast<double>(limit.count()) / 1000));
  }
  int status = -1;
  std::ifstream(folder_ + "/" + words[0]) >> status;
  if (status == 0) return text;
  while (text.ends_with('\n')) text.pop_back();
  const std::string how = status > 128 ? fmt::format("was ended by signal {}", status - 128)
                          : status > 0 ? fmt::format("ended with status {}", status)
                                       : "was killed";
  throw Failure(TN_ERROR_COMPILE_FAILED, fmt::format("{}: {} {}{}{}", name_, command[0], how,
                                                     text.empty() ? "" : ": ", text));
}

}  // namespace tenon::sdk
