// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of many objects of one kind that live at the same time.
#include <deque>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/slab.hpp"
#include "conformance/cases/gradually.hpp"

namespace tenon::conformance::abi::checks {
namespace {

constexpr uint32_t kFirst = 40;  ///< as many at least, however slow the device is

void expect_aligned(const OpenDevice& device, tn_memory* slab, uint32_t number) {
  if (!device.is_visible(0)) return;
  const auto at = reinterpret_cast<uintptr_t>(device.map(slab, 0, 1));
  device.unmap(slab);
  const uint32_t alignment = device.spaces()[0].alignment;
  expect(
      at % alignment == 0,
      "memory_map of slab {} of those that live together: expected a multiple of {}, got {} more",
      number, alignment, at % alignment);
}

void many_slabs(const CheckContext& c) {
  constexpr uint64_t kBytes = 48;
  const OpenDevice device = submitting(c);
  gradually(kFirst, 3000, [&](uint32_t count) {
    c.alive();
    std::vector<MemoryHandle> slabs;
    std::vector<tn_command> fills;
    for (uint32_t k = 0; k < count; ++k) {
      MemoryHandle memory = device.allocate(0, kBytes);
      if (!memory) {  // drivers have a limit of their own
        fills.resize(slabs.size() - slabs.size() / 8);
        slabs.resize(fills.size());  // room for what a submission takes
        break;
      }
      fills.push_back(fill_command(memory.get(), 0, kBytes, 0x5a000000 + k, 4));
      slabs.push_back(std::move(memory));
    }
    device.run(fills);
    c.alive();
    for (uint32_t k = 0; k < slabs.size(); ++k) {
      uint32_t words[kBytes / 4];
      device.read(slabs[k].get(), 0, 0, {reinterpret_cast<uint8_t*>(words), sizeof words});
      expect_aligned(device, slabs[k].get(), k);
      for (const uint32_t word : words)
        if (word != 0x5a000000 + k)
          find("mismatch", "slab {} of {} that live together: expected {:#x}, got {:#x}", k,
               slabs.size(), 0x5a000000 + k, word);
      if (k % 3 == 0) slabs[k].reset();
    }
  });
}

void many_timelines(const CheckContext& c) {
  const OpenDevice device = with_timelines(c);
  gradually(kFirst, 3000, [&](uint32_t count) {
    c.alive();
    std::vector<TimelineHandle> lines;
    for (uint64_t k = 0; k < count; ++k) {
      tn_timeline* made = nullptr;
      const int32_t status = c.table().timeline_create(device.handle(), k * k, &made, nullptr);
      if (status == TN_ERROR_OUT_OF_MEMORY && k >= kFirst) break;
      expect(status == TN_OK, "timeline_create: expected TN_OK for number {}, got {}", k,
             status_text(status));
      lines.push_back(TimelineHandle(made, {c.table().timeline_destroy}));
    }
    count = static_cast<uint32_t>(lines.size());
    for (uint64_t k = 0; k < count; k += 2) device.signal(lines[k].get(), k * k + 1);
    for (uint64_t k = 0; k < count; ++k) {
      const uint64_t value = device.query(lines[k].get()), expected = k * k + (k + 1) % 2;
      if (value != expected)
        find("order", "timeline {} of {} that live together: expected {}, got {}", k, count,
             expected, value);
    }
  });
}

/// Which differ in a constant; launched one after the other, the last one first.
void many_executables(const CheckContext& c) {
  constexpr uint64_t kBytes = 256;
  const OpenDevice device = computing(c);
  const MemoryHandle memory = any_memory(device, kBytes);
  gradually(12, 700, [&](uint32_t count) {
    c.alive();
    std::vector<Loaded> made;
    for (uint32_t k = 0; k < count; ++k) {
      c.alive();
      auto loaded = load_kernel(adding(1 + k), device);
      need(loaded.has_value(), "the device takes no such program");
      made.push_back(std::move(*loaded));
    }
    c.alive();
    Slab model;
    model.resize(kBytes);
    model.fill(0, kBytes, 0x10, 4, 0);
    std::deque<LaunchArguments> arguments;
    std::vector<tn_command> commands = {fill_command(memory.get(), 0, kBytes, 0x10, 4)};
    for (auto loaded = made.rbegin(); loaded != made.rend(); ++loaded) {
      const auto extent = loaded->kernel.extent(kBytes / 4);
      commands.push_back(launch_command(loaded->kernel, loaded->executable.get(), extent,
                                        {memory.get(), 0}, {}, 0, arguments.emplace_back()));
      loaded->kernel.apply(extent, {}, model.range(0, kBytes), 0);
    }
    device.run(commands);
    std::vector<uint8_t> got(kBytes);
    device.read(memory.get(), 0, 0, got);
    model.compare(0, 0, got,
                  fmt::format("after launches of {} executables that live together", made.size()));
  });
}

/// Handles of one device, each with a slab of its own.
void many_handles(const CheckContext& c) {
  constexpr uint64_t kBytes = 64;
  constexpr uint32_t kFewHandles = 3;
  {
    const OpenDevice device = c.open();
    need(device.submits() && device.is_visible(0), "the host does not see the device's memory");
  }
  gradually(kFewHandles, 40, [&](uint32_t count) {
    c.alive();
    std::deque<OpenDevice> devices;
    std::deque<MemoryHandle> slabs;
    for (uint32_t k = 0; k < count; ++k) {
      c.alive();
      tn_device* one_more = nullptr;
      const int32_t status =
          c.table().device_open(c.subject.index, c.subject.options_or_null(), &one_more, nullptr);
      if (one_more) c.table().device_close(one_more);
      if (status == TN_ERROR_OUT_OF_MEMORY && k >= kFewHandles) break;
      devices.push_back(c.open());
      slabs.push_back(any_memory(devices.back(), kBytes));
      const tn_command fill = fill_command(slabs.back().get(), 0, kBytes, 0xc0de0000 + k, 4);
      devices.back().run({&fill, 1});
    }
    for (uint32_t k = 0; k < slabs.size(); ++k) {
      uint32_t words[kBytes / 4];
      devices[k].read(slabs[k].get(), 0, 0, {reinterpret_cast<uint8_t*>(words), sizeof words});
      for (const uint32_t word : words)
        if (word != 0xc0de0000 + k)
          find("mismatch", "a slab of handle {} of {} that are open: expected {:#x}, got {:#x}", k,
               slabs.size(), 0xc0de0000 + k, word);
    }
  });
}

}  // namespace

std::span<const CheckRow> many_object_checks() {
  static constexpr CheckRow kRows[] = {
      {"many_slabs", many_slabs, 62},
      {"many_timelines", many_timelines, 62},
      {"many_executables", many_executables, 62},
      {"many_handles", many_handles, 62},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
