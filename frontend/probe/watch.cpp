// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program tenon-probe: forks, lets the child load the plugin, and watches it.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstring>

#include "core/plugin/process_state.hpp"
#include "core/plugin/process_tree.hpp"
#include "core/support/error.hpp"
#include "frontend/probe/probe_process.hpp"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostBytes = 1 << 20;
constexpr uint64_t kMostMemory = uint64_t{1} << 30;
constexpr size_t kMostProcesses = 64;
constexpr int kTickMilliseconds = 20;
constexpr int kTicksATree = 10;  ///< looking at all processes of a machine takes a while
constexpr double kLingerSeconds = 0.2;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// What comes through one pipe; never waits.
struct Stream {
  int descriptor;
  std::string text = {};

  void drain() {
    char bytes[4096];
    while (descriptor >= 0) {
      const ssize_t count = ::read(descriptor, bytes, sizeof bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return;
      if (count == 0) {
        close(descriptor);
        descriptor = -1;
      } else if (text.size() < kMostBytes) {
        text.append(bytes, static_cast<size_t>(count));
      }
    }
  }
};

std::string last_words(const std::string& printed) {
  const size_t end = printed.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return "";
  const size_t line = printed.find_last_of('\n', end);
  const size_t begin = line == std::string::npos ? 0 : line + 1;
  return "; its last words: " + printed.substr(begin, std::min<size_t>(end + 1 - begin, 200));
}

/// For a sentence: no line breaks, no control characters.
std::string quoted(std::string text) {
  text = text.substr(0, 60);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  return "\"" + text.substr(0, text.find_last_not_of(' ') + 1) + "\"";
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

/// One child from its start to its verdict.
class Watch {
 public:
  Watch(pid_t child, int said, int out, int errors, double seconds)
      : child_(child), seconds_(seconds), said_{said}, out_{out}, errors_{errors} {}

  ProbeResult run() {
    const std::string broken = wait();
    const size_t left = broken.empty() ? left_behind() : 1;
    if (left > 0) end_processes_below(getpid());
    drain();
    if (!broken.empty()) return verdict(broken_, broken);
    return judge(left);
  }

 private:
  void drain() {
    for (Stream* stream : {&said_, &out_, &errors_}) stream->drain();
  }

  /// Until the child ends: "", or what limit it broke.
  std::string wait() {
    const auto begin = Clock::now();
    const pid_t caller = getppid();
    const auto ended = static_cast<int>(syscall(SYS_pidfd_open, child_, 0));  // -1: ticks alone
    for (int tick = 1;; ++tick) {
      pollfd sources[] = {{said_.descriptor, POLLIN, 0},
                          {out_.descriptor, POLLIN, 0},
                          {errors_.descriptor, POLLIN, 0},
                          {ended, POLLIN, 0}};
      poll(sources, std::size(sources), kTickMilliseconds);
      drain();
      broken_ = ProbeResult::Status::kTimeout;
      if (seconds_since(begin) >= seconds_) return fmt::format("no answer in {} seconds", seconds_);
      if (waitpid(child_, &status_, WNOHANG) == child_) return "";
      broken_ = ProbeResult::Status::kRejected;
      std::vector<int> processes{child_};
      if (tick % kTicksATree == 0) processes = processes_below(getpid());
      if (processes.size() > kMostProcesses)
        return fmt::format("expected at most {} processes, got {}", kMostProcesses,
                           processes.size());
      uint64_t memory = 0;
      for (const int process : processes) memory += own_memory(process);
      if (memory > kMostMemory)
        return fmt::format("expected at most {} MiB of memory, got {} MiB", kMostMemory >> 20,
                           memory >> 20);
      if (getppid() != caller) {  // nobody waits for the answer
        end_processes_below(getpid());
        _exit(1);
      }
    }
  }

  /// Processes that the child left, after a moment to end by themselves. Orphans become children of
  /// this process.
  static size_t left_behind() {
    const auto begin = Clock::now();
    for (;;) {
      pid_t ended = 0;
      while ((ended = waitpid(-1, nullptr, WNOHANG)) > 0) {
      }
      if (ended < 0) return 0;  // no child at all
      if (seconds_since(begin) > kLingerSeconds) return processes_below(getpid()).size();
      usleep(kTickMilliseconds * 1000);
    }
  }

  /// The last line that begins with `mark`, without it; "" if there is none.
  std::string said(std::string_view mark) const {
    std::string found;
    for (size_t begin = 0; begin < said_.text.size();) {
      const size_t end = said_.text.find('\n', begin);
      if (end == std::string::npos) break;
      const std::string line = said_.text.substr(begin, end - begin);
      if (line.starts_with(mark)) found = line.substr(mark.size());
      begin = end + 1;
    }
    return found;
  }

  ProbeResult verdict(ProbeResult::Status status, const std::string& what) const {
    ProbeResult result;
    result.status = status;
    const std::string stage = said("at ");
    result.reason = what + (stage.empty() ? "" : " " + stage) + last_words(errors_.text);
    return result;
  }

  ProbeResult judge(size_t left) const {
    using Status = ProbeResult::Status;
    if (WIFSIGNALED(status_))
      return verdict(Status::kCrashed, "ended by " + signal_name(WTERMSIG(status_)));
    const int code = WEXITSTATUS(status_);
    if (code == kProbeMuted)
      return verdict(Status::kRejected, "closed a descriptor that is not its own");
    const std::string line = said("result ");
    if (line.empty() || code != kProbeLeft)
      return verdict(Status::kCrashed, fmt::format("ended the process with exit code {}", code));
    ProbeResult result = probe_from_json(line);
    if (result.status != Status::kOk) return result;
    // What stands in a buffer of the C library is written at the very end of exit().
    if (said_.text.find("\nleft\n") == std::string::npos)
      return verdict(Status::kCrashed, "lost what the program had printed");
    const auto reject = [](std::string why) {
      ProbeResult bad;
      bad.status = Status::kRejected;
      bad.reason = std::move(why);
      return bad;
    };
    if (!out_.text.empty())
      return reject("standard output: expected nothing on it, got " + quoted(out_.text));
    if (left > 0) return reject(fmt::format("left {} processes running", left));
    return result;
  }

  const pid_t child_;
  const double seconds_;
  Stream said_, out_, errors_;
  int status_ = 0;
  ProbeResult::Status broken_ = ProbeResult::Status::kTimeout;
};

struct Ends {
  int read = -1, write = -1;
};

Ends make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    fail(ErrorKind::kEnvironment, "it was not probed: no pipe: {}", std::strerror(errno));
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {ends[0], ends[1]};
}

/// In the child: its descriptors and nothing else that was open.
void become_child(pid_t parent, const Ends& said, const Ends& out, const Ends& errors) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  dup2(out.write, STDOUT_FILENO);
  dup2(errors.write, STDERR_FILENO);
  dup2(said.write, kProbeDescriptor);
  closefrom(kProbeDescriptor + 1);
}

}  // namespace

int probe_main(int argc, char** argv) {
  const bool selftest = argc == 4 && std::strcmp(argv[3], "--selftest") == 0;
  double seconds = 0;
  const std::string_view time = argc > 2 ? argv[2] : "";
  const auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), seconds);
  if ((argc != 3 && !selftest) || error != std::errc() || end != time.data() + time.size()) {
    fmt::print(stderr,
               "usage: tenon-probe FILE SECONDS [--selftest]; writes to file descriptor 3\n");
    return 2;
  }
  ProcessState::make_plain();  // a program that ignores SIGCHLD hands that down
  const int answer = fcntl(kProbeDescriptor, F_DUPFD_CLOEXEC, 10);
  close(kProbeDescriptor);
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what the plugin starts stays below this process
  const pid_t self = getpid();
  ProbeResult result;
  try {
    // Above the descriptors that the child gets.
    const int above[] = {open("/dev/null", O_RDWR | O_CLOEXEC)};
    const Ends said = make_pipe(), out = make_pipe(), errors = make_pipe();
    const pid_t child = fork();
    if (child == 0) {
      become_child(self, said, out, errors);
      return probe_child(argv[1], selftest);
    }
    if (child < 0)
      fail(ErrorKind::kEnvironment, "it was not probed: no process: {}", std::strerror(errno));
    setpgid(child, child);
    for (const int other : {above[0], said.write, out.write, errors.write}) close(other);
    result = Watch(child, said.read, out.read, errors.read, seconds).run();
  } catch (const std::exception& wrong) {
    result = {};
    result.status = ProbeResult::Status::kUnknown;
    result.reason = wrong.what();
  }
  const std::string line = probe_to_json(result) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t written = write(answer, line.data() + done, line.size() - done);
    if (written <= 0) return 1;
    done += static_cast<size_t>(written);
  }
  return 0;
}

}  // namespace tenon
