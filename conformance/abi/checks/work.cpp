// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of how much a submission holds, where its buffers begin, and how long a wait takes.
#include <algorithm>
#include <chrono>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/slab.hpp"

namespace tenon::conformance::abi::checks {
namespace {

/// Fills, copies and launches, each of which writes what no other does, and some of which write
/// over what came before.
void expect_all_run(const CheckContext& c, const OpenDevice& device, size_t count) {
  constexpr uint64_t kWord = 4;
  const bool copies = device.spaces()[0].copy_from & 1;
  KernelSpec spec;
  spec.kind = "accumulate";
  spec.constant = 5;
  std::optional<Loaded> loaded;
  if (device.computes()) loaded = load_kernel(spec, device);
  const uint64_t size = (count + 16) * kWord;
  const MemoryHandle memory = any_memory(device, size);
  Slab model;
  model.resize(size);
  std::vector<tn_command> commands;
  std::vector<LaunchArguments> arguments(count);
  device.write(memory.get(), 0, 0, std::vector<uint8_t>(size, 0));
  model.fill(0, size, 0, 4, 0);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t at = (i + 16) * kWord;
    if (loaded && i % 9 == 8) {  // adds to the first words
      const auto extent = loaded->kernel.extent(16);
      commands.push_back(launch_command(loaded->kernel, loaded->executable.get(), extent,
                                        {memory.get(), 0}, {}, 0, arguments[i]));
      loaded->kernel.apply(extent, {},
                           model.range(0, extent.outputs * loaded->kernel.element_bytes()), 0);
    } else if (copies && i % 5 == 4) {  // what the command before wrote
      commands.push_back(copy_command(memory.get(), at, memory.get(), at - kWord, kWord));
      model.copy(at, model, at - kWord, kWord, i);
    } else {
      const uint64_t pattern = 0x10000 + i;
      commands.push_back(fill_command(memory.get(), at, kWord, pattern, 4));
      model.fill(at, kWord, pattern, 4, i);
    }
  }
  c.alive();
  device.run(commands);
  std::vector<uint8_t> got(size);
  device.read(memory.get(), 0, 0, got);
  model.compare(0, 0, got, fmt::format("after a submission of {} commands", count));
}

void many_commands(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(device.submits(), "the device takes no submissions");
  for (const size_t count : {1u, 2u, 63u, 64u, 65u, 127u, 200u, 257u, 1000u})
    expect_all_run(c, device, count);
}

void expect_bound(const OpenDevice& device, const Loaded& loaded, uint32_t space, uint64_t at) {
  constexpr uint64_t kElements = 8;
  const auto extent = loaded.kernel.extent(kElements);
  const uint64_t bytes = std::max(extent.outputs, extent.inputs) * loaded.kernel.element_bytes();
  const uint64_t size = at * 2 + bytes + 64;
  const MemoryHandle out = device.allocate(space, size), in = device.allocate(space, size);
  if (!out || !in) return;
  Slab to, from;
  to.resize(size);
  from.resize(size);
  std::vector<uint8_t> values(size);
  for (uint64_t i = 0; i < size; ++i) values[i] = static_cast<uint8_t>(i % 5);
  from.set(0, values.data(), size, 1);
  device.write(in.get(), space, 0, values);
  std::ranges::fill(values, uint8_t{0x2A});
  to.set(0, values.data(), size, 2);
  device.write(out.get(), space, 0, values);
  // The input at another multiple than the output.
  const uint64_t in_at = at * 2;
  LaunchArguments arguments;
  const tn_command launch = launch_command(loaded.kernel, loaded.executable.get(), extent,
                                           {out.get(), at}, {in.get(), in_at}, 0, arguments);
  loaded.kernel.apply(extent, from.range(in_at, extent.inputs * loaded.kernel.element_bytes()),
                      to.range(at, extent.outputs * loaded.kernel.element_bytes()), 0);
  device.run({&launch, 1});
  const std::string when =
      fmt::format("after a launch with buffers at {} and {} of space {}, which claims {}", at,
                  in_at, space, device.spaces()[space].alignment);
  std::vector<uint8_t> got(size);
  device.read(out.get(), space, 0, got);
  to.compare_bound(0, at, extent.outputs * loaded.kernel.element_bytes(), got, when);
  device.read(in.get(), space, 0, got);
  from.compare(1, 0, got, when);
}

void bound_offsets(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(device.submits(), "the device takes no submissions");
  const Loaded loaded = any_kernel(device);
  for (uint32_t s = 0; s < device.spaces().size(); ++s) {
    const tn_memory_space& space = device.spaces()[s];
    const bool is_reached = device.is_visible(s) || (device.window_to(s) && device.window_from(s));
    if (!(space.flags & TN_MEMORY_DEVICE) || !is_reached) continue;
    // What the element itself needs is not the space's affair.
    const uint64_t step = std::max<uint64_t>(space.alignment, loaded.kernel.element_bytes());
    for (const uint64_t times : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 17u, 33u, 255u}) {
      if (step * times > 1 << 20) break;
      c.alive();
      expect_bound(device, loaded, s, step * times);
    }
  }
}

/// The best of several, so that a busy machine does not count.
void expect_length(const CheckContext& c, tn_timeline* timeline, uint64_t nanoseconds) {
  const double wanted = static_cast<double>(nanoseconds) * 1e-9, most = std::max(wanted * 10, 0.2);
  double least = 1e9;
  for (int tries = 0; tries < 5 && least > most / 5; ++tries) {
    c.alive();
    const auto begin = std::chrono::steady_clock::now();
    const int32_t status = c.table().timeline_wait(timeline, 4, nanoseconds, nullptr);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    expect(status == TN_ERROR_TIMEOUT, "timeline_wait: expected TN_ERROR_TIMEOUT, got {}",
           status == TN_OK ? "TN_OK" : status_text(status));
    least = std::min(least, spent.count());
    expect(spent.count() >= wanted / 2,
           "timeline_wait of {} ms: expected it to last as long, got {:.1f} ms", wanted * 1e3,
           spent.count() * 1e3);
  }
  expect(least < most,
         "timeline_wait of {} ms: expected an end soon after, got {:.1f} ms in the best of 5",
         wanted * 1e3, least * 1e3);
}

/// Of what nothing raises, and of what a submission raises that waits for the host.
void wait_length(const CheckContext& c) {
  const OpenDevice device = with_timelines(c);
  const TimelineHandle timeline = device.make_timeline(3), gate = device.make_timeline(0);
  constexpr uint64_t kLengths[] = {20'000'000, 0};
  for (const uint64_t length : kLengths) expect_length(c, timeline.get(), length);
  if (!device.submits()) return;
  const tn_point wait{gate.get(), 1}, signal{timeline.get(), 4};
  Unfinished work(device, gate.get(), 1);
  device.submit(submission_of({}, {&wait, 1}, {&signal, 1}));
  work.ends_with(signal);
  for (const uint64_t length : kLengths) expect_length(c, timeline.get(), length);
}

void timeline_backwards(const CheckContext& c) {
  const OpenDevice device = with_timelines(c);
  const TimelineHandle timeline = device.make_timeline(3);
  device.signal(timeline.get(), 9);
  for (const uint64_t value : {9u, 8u, 3u, 0u}) {
    device.signal(timeline.get(), value);
    if (const uint64_t got = device.query(timeline.get()); got != 9)
      find("order", "timeline_query: expected 9 after timeline_signal of {}, got {}", value, got);
    device.wait(timeline.get(), 9);
  }
  device.signal(timeline.get(), 10);
  device.wait(timeline.get(), 10);
}

}  // namespace

std::span<const CheckRow> work_checks() {
  static constexpr CheckRow kRows[] = {
      {"many_commands", many_commands, 48},
      {"bound_offsets", bound_offsets, 34},
      {"wait_length", wait_length, 52},
      {"timeline_backwards", timeline_backwards, 51},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
