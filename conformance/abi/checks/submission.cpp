// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of submit and of timelines.
#include <chrono>
#include <cstring>
#include <thread>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/slab.hpp"

namespace tenon::conformance::abi::checks {
namespace {

constexpr uint64_t kSubmissionBytes = 1024;

void expect_bytes(const OpenDevice& device, tn_memory* memory, const Slab& model,
                  const char* when) {
  std::vector<uint8_t> got(model.size());
  device.read(memory, 0, 0, got);
  model.compare(0, 0, got, when);
}

void zero_grid(const CheckContext& c) {
  const OpenDevice device = submitting(c);
  const Loaded loaded = any_kernel(device);
  const MemoryHandle memory = any_memory(device, kSubmissionBytes),
                     input = any_memory(device, kSubmissionBytes);
  Slab model;
  model.resize(kSubmissionBytes);
  model.fill(0, kSubmissionBytes, 0x1234, 4, 0);
  for (int axis = 0; axis < 3; ++axis) {
    for (const bool bound : {true, false}) {
      auto extent = loaded.kernel.extent(bound ? 8 : 0);
      std::fill_n(extent.grid, 3, 1u);
      extent.grid[axis] = 0;
      LaunchArguments arguments;
      const std::vector<tn_command> commands = {
          fill_command(memory.get(), 0, kSubmissionBytes, 0x1234, 4),
          launch_command(loaded.kernel, loaded.executable.get(), extent, {memory.get(), 0},
                         {input.get(), 0}, 0, arguments)};
      device.run(commands);
      expect_bytes(device, memory.get(), model, "after a launch of no workgroup");
    }
  }
}

void empty_submission(const CheckContext& c) {
  const OpenDevice device = submitting(c);
  for (int i = 0; i < 3; ++i) device.run({});
  // Several waits and signals, of which some are reached.
  if (!device.is_async()) return;
  const TimelineHandle a = device.make_timeline(7), b = device.make_timeline(0);
  const tn_point waits[] = {{a.get(), 7}, {a.get(), 3}, {b.get(), 0}};
  const tn_point signals[] = {{a.get(), 9}, {b.get(), 1}};
  device.submit(submission_of({}, waits, signals));
  device.wait(a.get(), 9);
  device.wait(b.get(), 1);
}

/// Everything is overwritten when submit returns, before the work may begin.
void structs_are_read(const CheckContext& c) {
  const OpenDevice device = submitting_with_timelines(c);
  const MemoryHandle memory = any_memory(device, kSubmissionBytes);
  const TimelineHandle gate = device.make_timeline(0), done = device.make_timeline(0);
  std::vector<tn_command> commands = {
      fill_command(memory.get(), 0, kSubmissionBytes, 0x77665544, 4)};
  LaunchArguments arguments;
  std::optional<Loaded> loaded;
  Slab model;
  model.resize(kSubmissionBytes);
  model.fill(0, kSubmissionBytes, 0x77665544, 4, 0);
  KernelSpec spec;
  spec.kind = "accumulate";
  if (device.computes() && (loaded = load_kernel(spec, device))) {
    const auto extent = loaded->kernel.extent(32);
    commands.push_back(launch_command(loaded->kernel, loaded->executable.get(), extent,
                                      {memory.get(), 0}, {}, 0, arguments));
    loaded->kernel.apply(extent, {}, model.range(0, extent.outputs * 4), 0);
  }
  tn_point wait{gate.get(), 1}, signal{done.get(), 1};
  tn_submission submission = submission_of(commands, {&wait, 1}, {&signal, 1});
  device.submit(submission);
  std::memset(static_cast<void*>(commands.data()), 0xDD, commands.size() * sizeof commands[0]);
  std::memset(static_cast<void*>(&arguments), 0xDD, sizeof arguments);
  std::memset(static_cast<void*>(&wait), 0xDD, sizeof wait);
  std::memset(static_cast<void*>(&signal), 0xDD, sizeof signal);
  std::memset(static_cast<void*>(&submission), 0xDD, sizeof submission);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const uint64_t early = device.query(done.get());
  device.signal(gate.get(), 1);
  device.wait(done.get(), 1);
  if (early != 0)
    find("order", "timeline: expected 0 before the host raised the gate, got {}", early);
  expect_bytes(device, memory.get(), model, "after the caller's structs were overwritten");
}

void order_of_commands(const CheckContext& c) {
  const OpenDevice device = submitting(c);
  need(device.spaces()[0].copy_from & 1, "space 0 takes no copies from itself");
  const MemoryHandle memory = any_memory(device, kSubmissionBytes);
  Slab model;
  model.resize(kSubmissionBytes);
  KernelSpec spec;
  spec.kind = "accumulate";
  spec.constant = 1;
  const auto loaded = load_kernel(spec, device);
  std::vector<tn_command> commands;
  std::vector<LaunchArguments> arguments(16);
  commands.push_back(fill_command(memory.get(), 0, kSubmissionBytes, 5, 4));
  model.fill(0, kSubmissionBytes, 5, 4, 0);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const uint64_t at = i * 12;
    commands.push_back(fill_command(memory.get(), at, 64, i, 2));
    model.fill(at, 64, i, 2, i);
    if (loaded) {
      const auto extent = loaded->kernel.extent(100);
      commands.push_back(launch_command(loaded->kernel, loaded->executable.get(), extent,
                                        {memory.get(), 0}, {}, 0, arguments[i]));
      loaded->kernel.apply(extent, {}, model.range(0, extent.outputs * 4), 0);
    }
    commands.push_back(
        copy_command(memory.get(), kSubmissionBytes / 2 + at, memory.get(), at, 200));
    model.copy(kSubmissionBytes / 2 + at, model, at, 200, i);
  }
  // Each on what the one before wrote.
  for (uint64_t i = 0; i < 6; ++i) {
    commands.push_back(copy_command(memory.get(), (i + 1) * 40, memory.get(), i * 40, 36));
    model.copy((i + 1) * 40, model, i * 40, 36, 16 + i);
  }
  device.run(commands);
  expect_bytes(device, memory.get(), model, "after commands of one submission");
}

void timeline_values(const CheckContext& c) {
  const OpenDevice device = submitting_with_timelines(c);
  for (const uint64_t start : {uint64_t{0}, uint64_t{41}, uint64_t{1} << 40}) {
    const TimelineHandle timeline = device.make_timeline(start);
    const auto expect_value = [&](uint64_t value, const char* when) {
      const uint64_t got = device.query(timeline.get());
      if (got != value) find("order", "timeline_query: expected {} {}, got {}", value, when, got);
    };
    expect_value(start, "at the beginning");
    device.wait(timeline.get(), start);
    device.wait(timeline.get(), 0);
    device.signal(timeline.get(), start + 2);
    expect_value(start + 2, "after timeline_signal");
    device.wait(timeline.get(), start + 1);
    const tn_point wait{timeline.get(), start + 2}, signal{timeline.get(), start + 10};
    device.submit(submission_of({}, {&wait, 1}, {&signal, 1}));
    device.wait(timeline.get(), start + 5);
    expect_value(start + 10, "after a submission raised it");
  }
}

void timeline_timeouts(const CheckContext& c) {
  const OpenDevice device = submitting_with_timelines(c);
  const TimelineHandle timeline = device.make_timeline(3);
  for (const uint64_t nanoseconds : {uint64_t{0}, uint64_t{1}, uint64_t{2'000'000}}) {
    const auto begin = std::chrono::steady_clock::now();
    const int32_t status = c.table().timeline_wait(timeline.get(), 4, nanoseconds, nullptr);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    expect(status == TN_ERROR_TIMEOUT,
           "timeline_wait of {} ns: expected TN_ERROR_TIMEOUT for what is not reached, got {}",
           nanoseconds, status == TN_OK ? "TN_OK" : status_text(status));
    expect(spent.count() < 2, "timeline_wait of {} ns: expected it to end, got {} s", nanoseconds,
           spent.count());
    expect(c.table().timeline_wait(timeline.get(), 3, nanoseconds, nullptr) == TN_OK,
           "timeline_wait of {} ns: expected TN_OK for what is reached", nanoseconds);
  }
  // A timeout breaks nothing.
  device.signal(timeline.get(), 4);
  device.wait(timeline.get(), 4);
}

}  // namespace

std::span<const CheckRow> submission_checks() {
  static constexpr CheckRow kRows[] = {
      {"zero_grid", zero_grid, 35},
      {"empty_submission", empty_submission, 48},
      {"structs_are_read", structs_are_read, 16},
      {"order_of_commands", order_of_commands, 32},
      {"timeline_values", timeline_values, 51},
      {"timeline_timeouts", timeline_timeouts, 52},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
