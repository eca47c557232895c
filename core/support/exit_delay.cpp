// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/exit_delay.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

namespace tenon {
namespace {

using namespace std::chrono_literals;

/// How long a thread waits for the end of a process that another one is ending.
constexpr auto kMostWait = 5s;

struct ExitDelays {
  std::atomic<uint32_t> count{0};
  std::atomic<std::thread::id> ender{};

  ExitDelays() { (void)pthread_atfork(nullptr, nullptr, in_child); }
  static void in_child();
};

/// Never destroyed: threads end after static objects.
ExitDelays& exit_delays() {
  static auto& instance = *new ExitDelays();
  return instance;
}

/// Of this thread.
uint32_t& own_delays() {
  thread_local uint32_t count = 0;
  return count;
}

void ExitDelays::in_child() {
  exit_delays().count = own_delays();
  exit_delays().ender = std::thread::id();
}

/// Whether exit() is among the callers; a thread may also just end.
bool is_called_by_exit() {
  bool found = false;
  const auto see = [](_Unwind_Context* context, void* out) {
    Dl_info about{};
    const auto at = static_cast<uintptr_t>(_Unwind_GetIP(context));
    // The address of a call's return may be that of the next function.
    if (at != 0 && dladdr(reinterpret_cast<void*>(at - 1), &about) != 0 && about.dli_sname &&
        std::strcmp(about.dli_sname, "exit") == 0)
      *static_cast<bool*>(out) = true;
    return *static_cast<bool*>(out) ? _URC_END_OF_STACK : _URC_NO_REASON;
  };
  _Unwind_Backtrace(see, &found);
  return found;
}

struct AtThreadEnd {
  ~AtThreadEnd() {
    // A call of a plugin that ends the process cannot be waited for.
    if (own_delays() > 0 || !is_called_by_exit()) return;
    ExitDelays& delays = exit_delays();
    delays.ender = std::this_thread::get_id();
    for (uint32_t left = delays.count; left > 0; left = delays.count) delays.count.wait(left);
  }
};

[[maybe_unused]] const ExitDelays& exit_delays_made_at_load = exit_delays();
[[maybe_unused]] const bool waits_from_load_on = (wait_in_exit_of_this_thread(), true);

}  // namespace

void wait_in_exit_of_this_thread() {
  thread_local AtThreadEnd at_end;  // made by the first call
}

void wait_if_exiting() {
  const std::thread::id ender = exit_delays().ender;
  if (ender != std::thread::id() && ender != std::this_thread::get_id())
    std::this_thread::sleep_for(kMostWait);
}

ExitDelay::ExitDelay() {
  if (own_delays()++ > 0) return;
  wait_in_exit_of_this_thread();
  ++exit_delays().count;
}

ExitDelay::~ExitDelay() {
  if (--own_delays() > 0) return;
  --exit_delays().count;
  exit_delays().count.notify_all();
}

}  // namespace tenon
