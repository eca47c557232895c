// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps of streams, and what is checked at each.
#include "tests/stream/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace tenon::sdk {

Machine& machine() {
  static Machine* const instance = new Machine();
  return *instance;
}

std::vector<int>& context_stack() {
  thread_local std::vector<int> stack;
  return stack;
}

int current_device() { return context_stack().empty() ? -1 : context_stack().back(); }

int Machine::begin(const char* name, bool needs_device) {
  recorded.emplace_back(name);
  const int device = current_device();
  if (needs_device) {
    if (device < 0 || retained[static_cast<size_t>(device)] == 0) {
      violation(fmt::format("{} without a retained device", name));
      return 201;
    }
    if (const int code = lost[static_cast<size_t>(device)]) return code;
  }
  if (++calls != fail_at) return 0;
  if (needs_device && Double::is_deadly(fail_code)) lost[static_cast<size_t>(device)] = fail_code;
  return fail_code;
}

void Machine::check_touched(const std::vector<Touched>& touched, int device) {
  for (const Touched& t : touched) {
    auto at = memory.upper_bound(t.address);
    const bool is_inside =
        at != memory.begin() &&
        ((--at)->first + at->second.size >= t.address + t.size && at->first <= t.address);
    if (!is_inside) {
      violation(fmt::format("device {} touches {} bytes that are not there", device, t.size));
    }
  }
}

bool Machine::is_in_flight(uint64_t address, uint64_t size, const ApiStream* but) const {
  for (const ApiStream* stream : streams) {
    if (stream == but || lost[static_cast<size_t>(stream->device)]) continue;
    for (const QueuedOp& op : stream->queue) {
      for (const Touched& t : op.touched) {
        if (t.address < address + size && address < t.address + t.size) return true;
      }
    }
  }
  return false;
}

bool Machine::step(ApiStream* stream) {
  if (stream->queue.empty() || lost[static_cast<size_t>(stream->device)]) return false;
  QueuedOp& op = stream->queue.front();
  if (op.wait) {
    if (!events.contains(op.wait)) {
      violation("a stream waits for an event that is destroyed");
    } else if (op.wait->done < op.generation && !lost[static_cast<size_t>(op.wait->device)]) {
      return false;
    }
  }
  QueuedOp now = std::move(op);
  stream->queue.pop_front();
  check_touched(now.touched, stream->device);
  if (now.run && violations.empty()) now.run();
  return true;
}

bool Machine::step_any() {
  std::vector<ApiStream*> all(streams.begin(), streams.end());
  std::ranges::shuffle(all, random);
  for (ApiStream* stream : all) {
    if (step(stream)) return true;
  }
  return false;
}

void Machine::run_until(const std::function<bool()>& is_over, const char* what) {
  while (!is_over()) {
    if (step_any()) continue;
    if (!is_over()) violation(fmt::format("{} would wait for ever", what));
    return;
  }
}

void Double::set_current(int device) {
  context_stack().clear();
  if (device >= 0) context_stack().push_back(device);
}

std::string Double::contexts() {
  std::string text;
  for (const int device : context_stack())
    text += fmt::format("{}{}", text.empty() ? "" : " ", device);
  return text;
}

bool Double::is_hip() {
  static const char* const manner = std::getenv("TENON_DOUBLE");
  return manner && std::string(manner) == "hip";
}

void Double::set_versions(int driver, int toolkit, int architecture) {
  const std::lock_guard lock(machine().mutex);
  machine().driver = driver;
  machine().toolkit = toolkit;
  machine().architecture = architecture;
}

bool Double::is_deadly(int code) {
  constexpr int kCodes[] = {4,   46,  201, 214, 220, 226, 700, 702, 709, 710,
                            714, 715, 716, 717, 718, 719, 721, 810, 911, 999};
  return std::ranges::find(kCodes, code) != std::end(kCodes);
}

void Double::reset() {
  const std::lock_guard lock(machine().mutex);
  Machine& m = machine();
  m.violations.clear();
  m.recorded.clear();
  m.calls = m.fail_at = 0;
  m.lost = {};
  m.reached = {};
  m.has_pools = m.has_graphs = true;
  m.driver = m.toolkit = kDoubleDriver;
  m.architecture = kDoubleArchitecture;
  set_current(-1);
}

void Double::fail_call(uint64_t n, int code) {
  const std::lock_guard lock(machine().mutex);
  machine().fail_at = machine().calls + n;
  machine().fail_code = code;
}

size_t Double::pools_reached() {
  const std::lock_guard lock(machine().mutex);
  return machine().reached.size();
}

uint64_t Double::calls() {
  const std::lock_guard lock(machine().mutex);
  return machine().calls;
}

void Double::lose(uint32_t device) {
  const std::lock_guard lock(machine().mutex);
  machine().lost[device] = 719;
}

void Double::set_abilities(bool pools, bool graphs) {
  const std::lock_guard lock(machine().mutex);
  machine().has_pools = pools;
  machine().has_graphs = graphs;
}

std::string Double::violations() {
  const std::lock_guard lock(machine().mutex);
  std::string text;
  for (const std::string& line : machine().violations) text += line + "\n";
  return text;
}

std::string Double::leftovers() {
  const std::lock_guard lock(machine().mutex);
  const Machine& m = machine();
  std::string text;
  const auto count = [&](size_t n, const char* what) {
    if (n) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, what);
  };
  count(m.streams.size(), "streams");
  count(m.events.size(), "events");
  count(m.modules.size(), "modules");
  count(m.graphs.size(), "graphs");
  count(m.execs.size(), "graph executables");
  count(m.memory.size(), "memory");
  for (const int times : m.retained) count(static_cast<size_t>(times), "retained contexts");
  return text;
}

std::string Double::recorded() {
  const std::lock_guard lock(machine().mutex);
  std::string text;
  for (const std::string& name : machine().recorded) text += (text.empty() ? "" : " ") + name;
  machine().recorded.clear();
  return text;
}

}  // namespace tenon::sdk
