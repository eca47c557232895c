// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of slabs: maps, odd places, and too little memory.

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/counting_host.hpp"
#include "conformance/abi/refused.hpp"
#include "conformance/abi/saved.hpp"
#include "conformance/abi/slab.hpp"
#include "conformance/cases/random.hpp"

namespace tenon::conformance::abi::checks {
namespace {

void map_ranges(const CheckContext& c) {
  const OpenDevice device = c.open();
  constexpr uint64_t kSize = 10000;
  for (uint32_t s = 0; s < device.spaces().size(); ++s) {
    if (!device.is_visible(s)) continue;
    const MemoryHandle memory = device.allocate(s, kSize);
    if (!memory) continue;
    auto* bytes = static_cast<uint8_t*>(device.map(memory.get(), 0, kSize));
    for (uint64_t i = 0; i < kSize; ++i) bytes[i] = static_cast<uint8_t>(i * 7);
    device.unmap(memory.get());
    constexpr std::pair<uint64_t, uint64_t> kRanges[] = {{1, 1},       {kSize - 1, 1}, {4095, 2},
                                                         {4096, 4096}, {13, 5000},     {0, kSize}};
    for (const auto& [offset, size] : kRanges) {
      bytes = static_cast<uint8_t*>(device.map(memory.get(), offset, size));
      for (uint64_t i = 0; i < size; ++i)
        if (bytes[i] != static_cast<uint8_t>((offset + i) * 7))
          find("mismatch", "memory_map of {} bytes at {}: expected {:#04x} at {}, got {:#04x}",
               size, offset, static_cast<uint8_t>((offset + i) * 7), i, bytes[i]);
      device.unmap(memory.get());
    }
  }
}

void odd_offsets(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(device.submits(), "the device takes no submissions");
  constexpr uint64_t kSize = 512;
  const MemoryHandle memory = any_memory(device, kSize), other = any_memory(device, kSize);
  Slab model, source;
  model.resize(kSize);
  source.resize(kSize);
  std::vector<tn_command> commands;
  const auto fill = [&](Slab& slab, tn_memory* to, uint64_t offset, uint64_t size, uint64_t pattern,
                        uint32_t width) {
    commands.push_back(fill_command(to, offset, size, pattern, width));
    slab.fill(offset, size, pattern, width, commands.size());
  };
  fill(model, memory.get(), 0, kSize, 0, 8);
  fill(source, other.get(), 0, kSize, 0x0807060504030201, 8);
  uint64_t at = 1;
  for (const uint32_t width : {1u, 2u, 4u, 8u}) {
    for (uint64_t count : {1u, 2u, 3u, 5u}) {
      // High bytes of the pattern that are not the width's must not matter.
      fill(model, memory.get(), at, count * width, 0xA1B2C3D4E5F60718, width);
      at += count * width + 1;
    }
  }
  for (uint64_t size : {1u, 2u, 3u, 4u, 7u, 8u, 33u}) {
    commands.push_back(copy_command(memory.get(), at, other.get(), size % 5, size));
    model.copy(at, source, size % 5, size, commands.size());
    at += size + 1;
  }
  const bool copies = device.spaces()[0].copy_from & 1;
  std::erase_if(commands, [&](const tn_command& command) {
    return command.kind == TN_COMMAND_COPY && !copies;
  });
  need(copies, "space 0 takes no copies from itself");
  device.run(commands);
  std::vector<uint8_t> got(kSize);
  device.read(memory.get(), 0, 0, got);
  model.compare(0, 0, got, "after fills and copies at odd offsets");
}

/// Patterns that differ in one byte, one after the other and together.
void patterns_alike(const CheckContext& c) {
  const OpenDevice device = submitting(c);
  constexpr uint64_t kEach = 40, kBase = 0x8070605040302010;
  constexpr int kBytes = 8;
  const MemoryHandle memory = any_memory(device, kEach * (kBytes + 1));
  for (const bool is_together : {false, true}) {
    Slab model;
    model.resize(kEach * (kBytes + 1));
    std::vector<tn_command> commands;
    for (int byte = -1; byte < kBytes; ++byte) {
      const uint64_t pattern = byte < 0 ? kBase : kBase ^ uint64_t { 0x5A } << (8 * byte);
      const uint64_t at = kEach * static_cast<uint64_t>(byte + 1);
      commands.push_back(fill_command(memory.get(), at, kEach, pattern, 8));
      model.fill(at, kEach, pattern, 8, commands.size());
      if (!is_together) device.run({&commands.back(), 1});
    }
    if (is_together) device.run(commands);
    std::vector<uint8_t> got(model.size());
    device.read(memory.get(), 0, 0, got);
    model.compare(0, 0, got, "after fills whose patterns differ in one byte each");
  }
}

/// From one place of a slab to another, at any offset, with any length.
void copies_inside(const CheckContext& c) {
  const OpenDevice device = submitting(c);
  need(device.spaces()[0].copy_from & 1, "space 0 takes no copies from itself");
  constexpr uint64_t kSize = 600;
  const MemoryHandle memory = any_memory(device, kSize);
  std::vector<uint8_t> bytes(kSize);
  Random random(mix(c.seed, 0x636f7079));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.bits());
  device.write(memory.get(), 0, 0, bytes);
  Slab model;
  model.resize(kSize);
  model.set(0, bytes.data(), kSize, 0);
  for (int i = 0; i < 60; ++i) {
    const uint64_t size = 1 + random.below(70);
    uint64_t low = random.below(kSize - 2 * size), high = low + size;
    high += random.below(kSize - high - size + 1);
    if (random.chance(50)) std::swap(low, high);
    const tn_command command = copy_command(memory.get(), low, memory.get(), high, size);
    device.run({&command, 1});
    model.copy(low, model, high, size, static_cast<size_t>(i));
    std::vector<uint8_t> got(kSize);
    device.read(memory.get(), 0, 0, got);
    model.compare(0, 0, got,
                  fmt::format("after a copy of {} bytes from {} to {}", size, high, low));
  }
}

/// Lengths that no device has, near to where sums of them go beyond 2^64.
void absurd_allocations(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(device.spaces()[0].largest == 0, "slabs of the device have a limit");
  for (const uint64_t less : {0u, 1u, 15u, 63u, 64u, 4095u, 4096u, 65536u}) {
    c.alive();
    tn_memory* memory = nullptr;
    const uint64_t size = UINT64_MAX - less;
    const int32_t status = refuse_or_make<tn_memory*>(
        fmt::format("memory_allocate of {} bytes", size).c_str(),
        [&](tn_memory** out, tn_error* error) {
          return c.table().memory_allocate(device.handle(), 0, size, out, error);
        },
        memory);
    if (status != TN_OK) continue;
    c.table().memory_free(memory);
    find("wrong", "memory_allocate of {} bytes: expected TN_ERROR_OUT_OF_MEMORY, got TN_OK", size);
  }
}

/// Until there is no more, and at most so many.
void huge_allocation(const CheckContext& c) {
  const OpenDevice device = c.open();
  const tn_memory_space& space = device.spaces()[0];
  const uint64_t size = space.largest ? space.largest : uint64_t{1} << 60;
  constexpr int kMost = 64;
  {
    std::vector<MemoryHandle> held;
    for (int i = 0; i < kMost; ++i) {
      c.alive();
      tn_memory* memory = nullptr;
      const int32_t status = refuse_or_make<tn_memory*>(
          "memory_allocate of more than there is",
          [&](tn_memory** out, tn_error* error) {
            return c.table().memory_allocate(device.handle(), 0, size, out, error);
          },
          memory);
      if (status == TN_OK) {
        held.push_back(device.own(memory));
        continue;
      }
      // A file system says it in its own words.
      const bool full =
          status == TN_ERROR_OUT_OF_MEMORY || (!device.computes() && status == TN_ERROR_IO);
      expect(full, "memory_allocate of {} bytes: expected TN_ERROR_OUT_OF_MEMORY, got {}", size,
             status_text(status));
      break;
    }
  }
  const MemoryHandle small = device.allocate(0, 256);
  expect(small != nullptr, "memory_allocate: expected 256 bytes after what did not fit was freed");
  const std::vector<uint8_t> bytes(256, 0x3C);
  std::vector<uint8_t> got(256);
  device.write(small.get(), 0, 0, bytes);
  device.read(small.get(), 0, 0, got);
  expect(got == bytes, "a slab after TN_ERROR_OUT_OF_MEMORY: expected its bytes, got others");
}

/// One use of everything that can run out of memory; stops at the first call that does.
class Errand {
 public:
  explicit Errand(const CheckContext& c) : c_(c) {}

  /// True if all calls passed.
  bool run() {
    tn_device* device = nullptr;
    tn_error error = abi_struct<tn_error>();
    if (!passed(
            c_.table().device_open(c_.subject.index, c_.subject.options_or_null(), &device, &error),
            "device_open"))
      return false;
    const DeviceHandle open(device, {c_.table().device_close});
    return use(device);
  }

 private:
  bool passed(int32_t status, const char* call) {
    if (status == TN_OK) return true;
    expect(status == TN_ERROR_OUT_OF_MEMORY,
           "{}: expected TN_ERROR_OUT_OF_MEMORY as the host's allocation failed, got {}", call,
           status_text(status));
    return false;
  }

  bool use(tn_device* device) {
    const tn_plugin& t = c_.table();
    tn_target target = abi_struct<tn_target>();
    target.device = device;
    const tn_properties* raw = nullptr;
    if (!passed(t.properties(&target, &raw, nullptr), "properties")) return false;
    const tn_properties properties = abi_read(raw);
    tn_memory* made = nullptr;
    if (!passed(t.memory_allocate(device, 0, 4096, &made, nullptr), "memory_allocate"))
      return false;
    const MemoryHandle memory(made, {t.memory_free});
    if (properties.flags & TN_DEVICE_COMPUTE) {
      sdk::ProgramBuilder b("errand");
      const auto y = b.buffer("y", TN_DTYPE_I32, TN_ACCESS_WRITE);
      const auto i = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
      b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {y, i, i});
      const sdk::Program program = b.finish();
      tn_executable* built = nullptr;
      if (!passed(t.compile(&target, program.get(), nullptr, &built, nullptr), "compile"))
        return false;
      const ExecutableHandle executable(built, {t.executable_destroy});
      return submit(device, made, properties.flags);
    }
    return submit(device, made, properties.flags);
  }

  bool submit(tn_device* device, tn_memory* memory, uint32_t flags) {
    const tn_plugin& t = c_.table();
    if (!t.submit) return true;
    const tn_command fill = fill_command(memory, 0, 4096, 1, 4);
    tn_submission submission = submission_of({&fill, 1});
    if (!(flags & TN_DEVICE_ASYNC)) return passed(t.submit(device, &submission, nullptr), "submit");
    tn_timeline* made = nullptr;
    if (!passed(t.timeline_create(device, 0, &made, nullptr), "timeline_create")) return false;
    const TimelineHandle timeline(made, {t.timeline_destroy});
    const tn_point signal{made, 1};
    submission.signals = &signal;
    submission.signal_count = 1;
    if (!passed(t.submit(device, &submission, nullptr), "submit")) return false;
    if (passed(t.timeline_wait(made, 1, UINT64_MAX, nullptr), "timeline_wait")) return true;
    fail_host_allocations(0);  // the work must have ended before anything is destroyed
    t.timeline_wait(made, 1, UINT64_MAX, nullptr);
    return false;
  }

  const CheckContext& c_;
};

void host_allocation_fails(const CheckContext& c) {
  constexpr int64_t kMostCalls = 3000;
  const int64_t before = host_counts().allocations;
  expect(Errand(c).run(), "expected room for one small slab, got TN_ERROR_OUT_OF_MEMORY");
  need(host_counts().allocations > before, "the plugin allocates nothing from its host");
  Errand(c).run();  // what is kept for ever is there now
  const int64_t live = host_counts().live;
  for (int64_t n = 1; n <= kMostCalls; ++n) {
    c.alive();
    fail_host_allocations(n);
    const bool passed = Errand(c).run();
    const bool refused = host_refused();
    fail_host_allocations(0);
    if (const int64_t now = host_counts().live; now > live)
      find("leak",
           "with the host's allocation {} refused: expected {} live allocations as before, got {}",
           n, live, now);
    if (passed && !refused) return;
  }
}

}  // namespace

std::span<const CheckRow> memory_checks() {
  static constexpr CheckRow kRows[] = {
      {"map_ranges", map_ranges, 45},
      {"odd_offsets", odd_offsets, 46},
      {"patterns_alike", patterns_alike, 46},
      {"copies_inside", copies_inside, 46},
      {"huge_allocation", huge_allocation, 13},
      {"absurd_allocations", absurd_allocations, 13},
      {"host_allocation_fails", host_allocation_fails, 13},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
