// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/device/process_end.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/exit_delay.hpp"
#include "core/support/fork_handlers.hpp"

namespace tenon {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kClosed = 1u << 31;
constexpr uint64_t kRegisteredAll = 1000;
/// Delay before a thread is told that devices are closed. A static object whose destructor waits
/// for that thread waits as long.
constexpr auto kMaxDelay = 5s;

struct ExitState {
  std::atomic<uint32_t> users{0};  ///< number of threads in calls, or-ed with kClosed
  std::atomic<std::thread::id> ender{};
  ForkSafeMutex mutex;
  std::vector<std::weak_ptr<ClosedAtExit>> devices;  ///< in order of opening
  std::vector<std::shared_ptr<void>> held;
  std::set<std::string> loaded;  ///< ids of devices for which handlers were registered

  ExitState() {
    at_fork(drain_before_fork, in_child);
    std::at_quick_exit(drain);
  }
  static void in_child();
  static void drain();
  static void drain_before_fork();
  static void close();
  std::vector<std::shared_ptr<ClosedAtExit>> alive() {
    const std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<ClosedAtExit>> result;
    for (const auto& device : devices)
      if (auto open = device.lock()) result.push_back(std::move(open));
    return result;
  }
};

/// Never destroyed: destructors of other static objects may use it.
ExitState& exit_state() {
  static auto& instance = *new ExitState();
  return instance;
}
/// Made at load: a child of fork would hang if a thread of its parent was constructing it.
[[maybe_unused]] const ExitState& made_at_load = exit_state();

/// Nesting depth of the calls of this thread.
int& depth() {
  thread_local int count = 0;
  return count;
}

void ExitState::in_child() {
  ExitState& e = exit_state();
  e.users = (e.users & kClosed) | (depth() > 0 ? 1 : 0);
  e.devices.clear();  // the parent's
}

/// For quick_exit, which runs no destructors: waits for all work.
void ExitState::drain() {
  if (depth() > 0) return;
  const ForkHold hold;
  for (const auto& device : exit_state().alive()) device->drain();
}

/// Threads of drivers hold process-wide locks while they work, as the one for static objects.
void ExitState::drain_before_fork() {
  for (const auto& device : exit_state().alive()) device->drain_before_fork();
}

void ExitState::close() {
  ExitState& e = exit_state();
  // exit() was called within a call, by a plugin or a signal handler, so the call cannot be waited
  // for.
  if (depth() > 0 || (e.users & kClosed)) return;
  const ForkHold hold;
  keep_what_is_left();
  e.ender = std::this_thread::get_id();
  uint32_t users = e.users.fetch_or(kClosed) | kClosed;
  while (users != kClosed) {
    e.users.wait(users);
    users = e.users;
  }
  const auto devices = e.alive();
  for (const auto& device : devices) device->drain();
  for (auto device = devices.rbegin(); device != devices.rend(); ++device) (*device)->close();
}

bool enter() noexcept {
  ExitState& e = exit_state();
  wait_in_exit_of_this_thread();
  if (depth() == 0 && (e.users.fetch_add(1) & kClosed)) {
    if (e.users.fetch_sub(1) == (kClosed | 1)) e.users.notify_all();
    return false;
  }
  ++depth();
  return true;
}

}  // namespace

void close_at_exit(const std::shared_ptr<ClosedAtExit>& device, const std::string& id) {
  ExitState& e = exit_state();
  const std::lock_guard lock(e.mutex);
  std::erase_if(e.devices, [](const auto& other) { return other.expired(); });
  e.devices.emplace_back(device);
  // Once for each id, as a process may open any number of devices.
  if (!e.loaded.insert(id).second) return;
  if (std::atexit(ExitState::close) != 0) throw std::bad_alloc();
  register_fork_handlers();
}

void first_launches_ended() {
  // A registration takes memory for good, and drivers construct little after a while, so later ones
  // are rare. If one fails, earlier ones still hold.
  static std::atomic<uint64_t> count = 0;
  const uint64_t number = ++count;
  if (number < kRegisteredAll || std::has_single_bit(number)) (void)std::atexit(ExitState::close);
}

void require_running() {
  ExitState& e = exit_state();
  if (!(e.users & kClosed)) return;
  if (e.ender.load() != std::this_thread::get_id()) std::this_thread::sleep_for(kMaxDelay);
  fail(ErrorKind::kInvalid,
       "[exit] expected a running process, got one that is ending: its devices are closed");
}

void always_in_use() noexcept { ++depth(); }

void require_native(const Birthplace& made_in, const char* what) {
  if (is_native(made_in)) return;
  fail(ErrorKind::kInvalid,
       "[fork] expected a {} made in this process, got one of process {}; make a new Context after "
       "fork",
       what, made_in.process);
}

InUse::InUse(const Birthplace& made_in) {
  require_native(made_in, "Context");
  entered_ = enter();
  if (!entered_) require_running();
}

InUse::InUse(const Birthplace& made_in, std::nothrow_t) noexcept
    : entered_(is_native(made_in) && enter()) {}

InUse::~InUse() {
  if (!entered_) return;
  ExitState& e = exit_state();
  if (--depth() == 0 && e.users.fetch_sub(1) == (kClosed | 1)) e.users.notify_all();
}

void leak(std::shared_ptr<void> object) {
  ExitState& e = exit_state();
  const std::lock_guard lock(e.mutex);
  e.held.push_back(std::move(object));
}

}  // namespace tenon
