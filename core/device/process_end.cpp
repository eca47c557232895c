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
#include "core/support/fork_handlers.hpp"

namespace tenon {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kClosed = 1u << 31;
constexpr uint64_t kRegisteredAll = 1000;
/// A static object that waits in its destructor for a thread which computes is held up this long.
constexpr auto kMostHeldBack = 5s;

struct Ending {
  std::atomic<uint32_t> users{0};  ///< threads in calls, and kClosed
  std::atomic<std::thread::id> ender{};
  ForkSafeMutex mutex;
  std::vector<std::weak_ptr<ClosedAtExit>> devices;  ///< in order of opening
  std::vector<std::shared_ptr<void>> held;
  std::set<std::string> loaded;  ///< ids of devices, after which handlers were registered

  Ending() {
    at_fork(rest, in_child);
    std::at_quick_exit(drain);
  }
  static void in_child();
  static void drain();
  static void rest();
  static void close();
  std::vector<std::shared_ptr<ClosedAtExit>> alive() {
    const std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<ClosedAtExit>> result;
    for (const auto& device : devices)
      if (auto open = device.lock()) result.push_back(std::move(open));
    return result;
  }
};

/// Never destroyed: other static objects come here late.
Ending& ending() {
  static auto& instance = *new Ending();
  return instance;
}
/// Before there are threads: a child made by fork would wait for one that makes it.
[[maybe_unused]] const Ending& made_at_load = ending();

/// Calls that this thread is in.
int& depth() {
  thread_local int count = 0;
  return count;
}

void Ending::in_child() {
  Ending& e = ending();
  e.users = (e.users & kClosed) | (depth() > 0 ? 1 : 0);
  e.devices.clear();  // the parent's
}

/// quick_exit destroys nothing, so there is only work to wait for.
void Ending::drain() {
  if (depth() > 0) return;
  const ForkHold hold;
  for (const auto& device : ending().alive()) device->drain();
}

/// Drivers' threads hold locks of the process while they work, as that of static objects.
void Ending::rest() {
  for (const auto& device : ending().alive()) device->rest();
}

void Ending::close() {
  Ending& e = ending();
  // From within a call, as of a plugin or a signal handler: there is no way to wait for its end.
  if (depth() > 0 || (e.users & kClosed)) return;
  const ForkHold hold;
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
  Ending& e = ending();
  if (depth() == 0 && (e.users.fetch_add(1) & kClosed)) {
    if (e.users.fetch_sub(1) == (kClosed | 1)) e.users.notify_all();
    return false;
  }
  ++depth();
  return true;
}

}  // namespace

void close_at_exit(const std::shared_ptr<ClosedAtExit>& device, const std::string& id) {
  Ending& e = ending();
  const std::lock_guard lock(e.mutex);
  std::erase_if(e.devices, [](const auto& other) { return other.expired(); });
  e.devices.emplace_back(device);
  // Once for each: a process may open devices without end.
  if (!e.loaded.insert(id).second) return;
  if (std::atexit(Ending::close) != 0) throw std::bad_alloc();
  register_fork_handlers();
}

void new_work_has_ended() {
  // A registration takes memory for good, and drivers make little that is new after a while. If one
  // fails, those before it hold.
  static std::atomic<uint64_t> count = 0;
  const uint64_t number = ++count;
  if (number < kRegisteredAll || std::has_single_bit(number)) (void)std::atexit(Ending::close);
}

void require_running() {
  Ending& e = ending();
  if (!(e.users & kClosed)) return;
  if (e.ender.load() != std::this_thread::get_id()) std::this_thread::sleep_for(kMostHeldBack);
  fail(ErrorKind::kInvalid,
       "[exit] expected a process that goes on, got one that is ending: its devices are closed");
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
  Ending& e = ending();
  if (--depth() == 0 && e.users.fetch_sub(1) == (kClosed | 1)) e.users.notify_all();
}

void keep_for_ever(std::shared_ptr<void> object) {
  Ending& e = ending();
  const std::lock_guard lock(e.mutex);
  e.held.push_back(std::move(object));
}

}  // namespace tenon
