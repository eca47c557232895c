// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps of streams, and what is checked at each.
#include "tests/stream/machine.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace tenon::sdk {

Machine& machine() {
  static Machine* const instance = new Machine();
  return *instance;
}

int& current_device() {
  thread_local int device = -1;
  return device;
}

int Machine::begin(const char* name, bool needs_device) {
  recorded.emplace_back(name);
  const int device = current_device();
  if (needs_device) {
    if (device < 0 || retained[static_cast<size_t>(device)] == 0) {
      violation(fmt::format("{} without a retained device", name));
      return 201;
    }
    if (lost[static_cast<size_t>(device)]) return 719;
  }
  if (++calls == fail_at) return fail_code;
  return 0;
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
    if (stream == but) continue;
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

void Double::reset() {
  const std::lock_guard lock(machine().mutex);
  Machine& m = machine();
  m.violations.clear();
  m.recorded.clear();
  m.calls = m.fail_at = 0;
  m.lost = {};
  m.has_pools = m.has_graphs = true;
}

void Double::fail_call(uint64_t n, int code) {
  const std::lock_guard lock(machine().mutex);
  machine().fail_at = machine().calls + n;
  machine().fail_code = code;
}

uint64_t Double::calls() {
  const std::lock_guard lock(machine().mutex);
  return machine().calls;
}

void Double::lose(uint32_t device) {
  const std::lock_guard lock(machine().mutex);
  machine().lost[device] = true;
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
