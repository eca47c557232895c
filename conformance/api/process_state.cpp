// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/api/process_state.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cfenv>
#include <clocale>
#include <filesystem>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tenon::conformance {
namespace {

/// Not SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT and the real-time ones: drivers use them for
/// memory that moves, for crash reports and to talk to their threads.
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

uint64_t float_register() {
#if defined(__x86_64__)
  return _mm_getcsr() & ~0x3fu;  // without what has happened so far
#elif defined(__aarch64__)
  uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
#else
  return 0;
#endif
}

}  // namespace

ProcessState ProcessState::now() {
  ProcessState state;
  std::error_code error;
  state.directory = std::filesystem::current_path(error).string();
  state.locale = std::setlocale(LC_ALL, nullptr);
  state.umask = ::umask(0);
  ::umask(state.umask);
  static_assert(std::size(kSignals) == std::tuple_size_v<decltype(state.handlers)>);
  for (size_t i = 0; i < std::size(kSignals); ++i)
    state.handlers[i] = handler_of(kSignals[i].number);
  sigset_t blocked;
  sigemptyset(&blocked);
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (size_t i = 1; i < state.blocked.size(); ++i)
    state.blocked[i] = sigismember(&blocked, static_cast<int>(i)) == 1;
  state.rounding = std::fegetround();
  state.float_control = float_register();
  return state;
}

void ProcessState::make_plain() {
  ::umask(022);
  for (const Signal& each : kSignals) std::signal(each.number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
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
  if (after.rounding != before.rounding)
    return fmt::format("the rounding of the calling thread: expected {:#x}, got {:#x}",
                       before.rounding, after.rounding);
  if (after.float_control != before.float_control)
    return fmt::format(
        "the floating point control (traps, subnormals) of the calling thread: expected {:#x}, got "
        "{:#x}",
        before.float_control, after.float_control);
  return {};
}

}  // namespace tenon::conformance
