// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plugin/process_state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <clocale>
#include <filesystem>
#include <map>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tenon {
namespace {

/// Signals that belong to the program. Not SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT and real-time
/// signals, which drivers use for managed memory, crash reports and their threads.
struct Signal {
  int number;
  const char* name;
};
constexpr Signal kSignals[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGTERM, "SIGTERM"},
                               {SIGCHLD, "SIGCHLD"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},
                               {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"}, {SIGFPE, "SIGFPE"},
                               {SIGCONT, "SIGCONT"}, {SIGTSTP, "SIGTSTP"}, {SIGWINCH, "SIGWINCH"}};

uintptr_t handler_of(int number) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return action.sa_flags & SA_SIGINFO ? reinterpret_cast<uintptr_t>(action.sa_sigaction)
                                      : reinterpret_cast<uintptr_t>(action.sa_handler);
}

ProcessState::Stream stream_of(int descriptor) {
  struct stat file {};
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fstat(descriptor, &file) != 0) return {};
  return {true, file.st_dev, file.st_ino, flags};
}
std::string text_of(const ProcessState::Stream& stream) {
  if (!stream.is_open) return "it closed";
  return fmt::format("file {}:{}, flags {:#o}", stream.device, stream.file, stream.flags);
}

std::map<std::string, std::string> by_name(const std::vector<std::string>& variables) {
  std::map<std::string, std::string> out;
  for (const std::string& entry : variables)
    if (const size_t equals = entry.find('='); equals != std::string::npos)
      out.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  return out;
}

/// Whether other code of the process, or a child, acts upon a variable of this name.
bool is_shared_name(std::string_view name) {
  constexpr std::string_view kStarts[] = {"LD_", "LC_",     "LANG",   "PATH",   "HOME", "TZ",
                                          "TMP", "MALLOC_", "GLIBC_", "TENON_", "XDG_", "PYTHON"};
  return std::ranges::any_of(kStarts, [&](auto start) { return name.starts_with(start); });
}

std::string variable_difference(const std::vector<std::string>& all_before,
                                const std::vector<std::string>& all_after) {
  if (all_before == all_after) return {};
  const auto before = by_name(all_before), after = by_name(all_after);
  for (const auto& [name, value] : before) {
    const auto at = after.find(name);
    if (at == after.end())
      return fmt::format("the environment: expected {} as before, got none", name);
    if (at->second != value)
      return fmt::format("the environment: expected {} as before, got another value", name);
  }
  for (const auto& [name, value] : after)
    if (!before.contains(name) && is_shared_name(name))
      return fmt::format("the environment: expected no {}, got one", name);
  return {};
}

}  // namespace

ProcessState ProcessState::of_calls() {
  ProcessState state;
  std::error_code error;
  state.directory = std::filesystem::current_path(error).string();
  state.locale = std::setlocale(LC_ALL, nullptr);
  static_assert(std::size(kSignals) == std::tuple_size_v<decltype(state.handlers)>);
  for (size_t i = 0; i < std::size(kSignals); ++i)
    state.handlers[i] = handler_of(kSignals[i].number);
  sigset_t blocked;
  sigemptyset(&blocked);
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (size_t i = 1; i < state.blocked.size(); ++i)
    state.blocked[i] = sigismember(&blocked, static_cast<int>(i)) == 1;
  state.rounding = std::fegetround();
  state.float_control = tenon::float_control();
  return state;
}

ProcessState ProcessState::now() {
  ProcessState state = of_calls();
  state.umask = ::umask(0);
  ::umask(state.umask);
  sched_getaffinity(0, sizeof state.processors, &state.processors);
  for (int i = 0; i < 3; ++i) state.streams[static_cast<size_t>(i)] = stream_of(i);
  for (char** entry = environ; entry && *entry; ++entry) state.variables.emplace_back(*entry);
  itimerval timer{};
  getitimer(ITIMER_REAL, &timer);
  state.alarm = timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0;
  return state;
}

uint64_t float_control() {
#if defined(__x86_64__)
  uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  return uint64_t{x87} << 32 | (_mm_getcsr() & ~0x3fu);  // without the exception flags
#elif defined(__aarch64__)
  uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
#else
  return 0;
#endif
}

void set_float_control([[maybe_unused]] uint64_t control) {
#if defined(__x86_64__)
  const auto x87 = static_cast<uint16_t>(control >> 32);
  asm volatile("fldcw %0" : : "m"(x87));
  _mm_setcsr(static_cast<unsigned>(control));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(control));
#endif
}

void ProcessState::make_plain() {
  ::umask(022);
  for (const Signal& each : kSignals) std::signal(each.number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void ProcessState::put_back() const {
  std::error_code error;
  std::filesystem::current_path(directory, error);
  std::setlocale(LC_ALL, locale.c_str());
  ::umask(umask);
  sigset_t signals;
  sigemptyset(&signals);
  for (size_t i = 1; i < blocked.size(); ++i)
    if (blocked[i]) sigaddset(&signals, static_cast<int>(i));
  pthread_sigmask(SIG_SETMASK, &signals, nullptr);
  std::fesetround(rounding);
  set_float_control(float_control);
}

std::string difference(const ProcessState& before, const ProcessState& after) {
  if (after.directory != before.directory)
    return fmt::format("the working directory: expected {}, got {}", before.directory,
                       after.directory);
  if (after.locale != before.locale)
    return fmt::format("the locale: expected {}, got {}", before.locale, after.locale);
  if (after.umask != before.umask)
    return fmt::format("the umask: expected {:03o}, got {:03o}", before.umask, after.umask);
  for (size_t i = 0; i < before.handlers.size(); ++i)
    if (after.handlers[i] != before.handlers[i])
      return fmt::format("the action of {}: expected it as before, got another", kSignals[i].name);
  for (size_t i = 0; i < before.blocked.size(); ++i)
    if (after.blocked[i] != before.blocked[i])
      return fmt::format("signal {} of the calling thread: expected it {}, got the opposite", i,
                         before.blocked[i] ? "blocked" : "not blocked");
  if (!CPU_EQUAL(&after.processors, &before.processors))
    return "the processors of the calling thread: expected them as before, got others";
  if (after.rounding != before.rounding)
    return fmt::format("the rounding of the calling thread: expected {:#x}, got {:#x}",
                       before.rounding, after.rounding);
  if (after.float_control != before.float_control)
    return fmt::format(
        "the floating point control (traps, subnormals, precision) of the calling thread: expected "
        "{:#x}, got {:#x}",
        before.float_control, after.float_control);
  constexpr const char* kStreams[] = {"standard input", "standard output", "standard error"};
  for (size_t i = 0; i < before.streams.size(); ++i)
    if (after.streams[i] != before.streams[i])
      return fmt::format("{}: expected {}, got {}", kStreams[i], text_of(before.streams[i]),
                         text_of(after.streams[i]));
  if (after.alarm && !before.alarm) return "the timer of SIGALRM: expected none, got one";
  return variable_difference(before.variables, after.variables);
}

}  // namespace tenon
