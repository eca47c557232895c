// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of bytes, offsets, elements, commands and arguments beyond 2^16, 2^20 and 2^32.
#include <algorithm>
#include <cstring>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/checks/large_probes.hpp"
#include "conformance/abi/checks/probe_programs.hpp"
#include "conformance/abi/huge_slab.hpp"
#include "conformance/abi/slab.hpp"
#include "conformance/cases/gradually.hpp"

namespace tenon::conformance::abi::checks {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kSize = 20 * kMiB + 4096;

/// No two words that lie a power of two apart are alike.
std::vector<uint8_t> spread_words(uint64_t bytes) {
  std::vector<uint8_t> out((bytes + 3) / 4 * 4);
  for (uint32_t i = 0; i < out.size() / 4; ++i) {
    const uint32_t word = (i + 1) * 0x9E3779B1u;
    std::memcpy(out.data() + size_t{i} * 4, &word, sizeof word);
  }
  out.resize(bytes);
  return out;
}

MemoryHandle large_memory(const OpenDevice& device) {
  const uint64_t largest = device.spaces()[0].largest;
  need(largest == 0 || largest >= kSize, "no slab is so large");
  return any_memory(device, kSize);
}

void expect_bytes(const OpenDevice& device, tn_memory* memory, std::span<const uint8_t> wanted,
                  const std::string& after) {
  // Kept: fresh pages cost more than the bytes.
  static thread_local std::vector<uint8_t> got;
  got.resize(wanted.size());
  device.read(memory, 0, 0, got);
  if (std::memcmp(got.data(), wanted.data(), got.size()) == 0) return;
  const auto [at, other] = std::ranges::mismatch(wanted, got);
  find("mismatch", "byte {} of a slab of {}: expected {:#04x} after {}, got {:#04x}",
       at - wanted.begin(), wanted.size(), *at, after, *other);
}

void large_fills(const CheckContext& c) {
  const OpenDevice device = submitting(c);
  const MemoryHandle memory = large_memory(device);
  std::vector<uint8_t> wanted = spread_words(kSize);
  device.write(memory.get(), 0, 0, wanted);
  struct Fill {
    uint64_t offset, size;
    uint32_t width;
  };
  constexpr Fill kFills[] = {{0x10004, 0x10008, 4},        {kMiB + 12, kMiB + 0x10020, 1},
                             {0x1000001, 3 * kMiB + 6, 2}, {8, kSize - 64, 4},
                             {kMiB * 9, 9 * kMiB, 8},      {16, 16 * kMiB + 256, 1},
                             {3, kMiB + 0x10008, 8},       {kMiB + 5, 2 * kMiB + 24, 8},
                             {kMiB - 2, 2 * kMiB + 4, 4},  {0x20001, kMiB + 0x20004, 4}};
  for (const Fill& fill : kFills) {
    c.alive();
    const uint64_t pattern = 0x8877665544332211 + fill.offset;
    const tn_command command =
        fill_command(memory.get(), fill.offset, fill.size, pattern, fill.width);
    device.run({&command, 1});
    for (uint64_t i = 0; i < fill.size; i += fill.width)
      std::memcpy(wanted.data() + fill.offset + i, &pattern, fill.width);
    expect_bytes(device, memory.get(), wanted,
                 fmt::format("a fill of {} bytes at {}", fill.size, fill.offset));
  }
}

void large_copies(const CheckContext& c) {
  const OpenDevice device = submitting(c);
  need(device.spaces()[0].copy_from & 1, "space 0 takes no copies from itself");
  const MemoryHandle memory = large_memory(device), source = large_memory(device);
  const std::vector<uint8_t> bytes = spread_words(kSize);
  std::vector<uint8_t> wanted(kSize, 0x5A);
  device.write(source.get(), 0, 0, bytes);
  device.write(memory.get(), 0, 0, wanted);
  struct Copy {
    uint64_t to, from, size;
  };
  constexpr Copy kCopies[] = {{0, 0x10000, 0x10004},
                              {kMiB + 4, 3 * kMiB + 8, 64},
                              {2 * kMiB + 1, 0x10003, kMiB + 5},
                              {4, 17 * kMiB + 12, 2 * kMiB},
                              {18 * kMiB, 0, kMiB},
                              {kMiB, 2 * kMiB, 18 * kMiB + 4096},
                              {0, 4, 16 * kMiB + 1028}};
  for (const Copy& copy : kCopies) {
    c.alive();
    const tn_command command =
        copy_command(memory.get(), copy.to, source.get(), copy.from, copy.size);
    device.run({&command, 1});
    std::memcpy(wanted.data() + copy.to, bytes.data() + copy.from, copy.size);
    expect_bytes(device, memory.get(), wanted,
                 fmt::format("a copy of {} bytes from {} to {}", copy.size, copy.from, copy.to));
  }
}

void large_maps(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(device.is_visible(0), "the host does not see space 0");
  const MemoryHandle memory = large_memory(device);
  const std::vector<uint8_t> bytes = spread_words(kSize);
  device.write(memory.get(), 0, 0, bytes);
  constexpr std::pair<uint64_t, uint64_t> kRanges[] = {
      {0xFFFF, 2},         {0x10000, 64},        {0x10004, 0x20001},    {kMiB - 1, 2},
      {kMiB, 4096},        {kMiB + 8, 2 * kMiB}, {0x1000000, 3 * kMiB}, {0x1000005, 7},
      {3 * kMiB, 0x10000}, {kSize - 1, 1},       {4096, kSize - 8192},  {0, kSize}};
  for (const auto& [offset, size] : kRanges) {
    const auto* got = static_cast<const uint8_t*>(device.map(memory.get(), offset, size));
    const uint8_t* wanted = bytes.data() + offset;
    for (uint64_t i = 0; i < size; ++i)
      if (got[i] != wanted[i])
        find("mismatch", "memory_map of {} bytes at {}: expected {:#04x} at {}, got {:#04x}", size,
             offset, wanted[i], i, got[i]);
    device.unmap(memory.get());
  }
}

void huge_slab(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(try_huge_slab(device), "no room for a slab of more than 4 GiB");
}

void half_gib_slab(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(try_half_gib_slab(device), "no room for a slab of more than 512 MiB");
}

/// Buffers of more than 2^20 elements, bound beyond 2^20 bytes.
void many_elements(const CheckContext& c) {
  const OpenDevice device = submitting(c);
  constexpr uint64_t kAt = 2 * kMiB;
  constexpr uint32_t kFirst = 0x11000, kMost = kMiB + 0x11000, kConstant = 7;
  KernelSpec spec;
  spec.dtype = TN_DTYPE_U32;
  spec.threads = 64;
  spec.constant = kConstant;
  const auto loaded = device.computes() ? load_kernel(spec, device) : std::nullopt;
  need(loaded.has_value(), "the device takes no such program");
  gradually(kFirst, kMost, [&](uint32_t count) {
    c.alive();
    const auto extent = loaded->kernel.extent(count);
    const uint64_t size = extent.outputs * 4, most = device.properties().max_buffer_bytes;
    if (most && size > most) return;
    const MemoryHandle out = any_memory(device, kAt + size), in = any_memory(device, kAt + size);
    std::vector<uint8_t> bytes = spread_words(kAt + size);
    device.write(in.get(), 0, 0, bytes);
    device.write(out.get(), 0, 0, bytes);
    LaunchArguments arguments;
    const tn_command launch = launch_command(loaded->kernel, loaded->executable.get(), extent,
                                             {out.get(), kAt}, {in.get(), kAt}, 0, arguments);
    device.run({&launch, 1});
    for (uint64_t at = kAt; at < bytes.size(); at += 4) {
      uint32_t word = 0;
      std::memcpy(&word, bytes.data() + at, 4);
      word += kConstant;
      std::memcpy(bytes.data() + at, &word, 4);
    }
    expect_bytes(device, out.get(), bytes,
                 fmt::format("a launch on {} elements at byte {}", extent.outputs, kAt));
  });
}

/// So many fills, each of a word of its own, and fewer launches, each on words of its own.
void crowded_submissions(const CheckContext& c) {
  const OpenDevice device = submitting(c);
  constexpr uint32_t kFirst = 1200, kMost = 70'000, kMostLaunches = 33'500;  // of two arguments
  gradually(kFirst, kMost, [&](uint32_t count) {
    c.alive();
    const MemoryHandle memory = any_memory(device, uint64_t{count} * 4);
    std::vector<tn_command> commands;
    std::vector<uint8_t> wanted(size_t{count} * 4);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t word = (i + 1) * 0x9E3779B1u;
      commands.push_back(fill_command(memory.get(), uint64_t{i} * 4, 4, word, 4));
      std::memcpy(wanted.data() + size_t{i} * 4, &word, 4);
    }
    device.run(commands);
    expect_bytes(device, memory.get(), wanted, fmt::format("a submission of {} fills", count));
  });
  KernelSpec spec;
  spec.kind = "add";
  spec.dtype = TN_DTYPE_U32;
  const auto loaded = device.computes() ? load_kernel(spec, device) : std::nullopt;
  if (!loaded) return;
  const uint64_t step = std::max<uint64_t>(device.spaces()[0].alignment, 4);
  const uint64_t largest = device.spaces()[0].largest;
  const uint64_t bytes_of_all = largest ? std::min(largest, 64 * kMiB) : 64 * kMiB;
  const auto most = static_cast<uint32_t>(std::min<uint64_t>(kMostLaunches, bytes_of_all / step));
  gradually(kFirst, most, [&](uint32_t count) {
    c.alive();
    const MemoryHandle memory = any_memory(device, count * step);
    const MemoryHandle source = any_memory(device, count * step);
    Slab model, from;
    for (Slab* slab : {&model, &from}) slab->resize(count * step);
    const std::vector<uint8_t> bytes = spread_words(count * step);
    model.set(0, bytes.data(), bytes.size(), 0);
    from.set(0, bytes.data(), bytes.size(), 0);
    device.write(memory.get(), 0, 0, bytes);
    device.write(source.get(), 0, 0, bytes);
    std::vector<LaunchArguments> arguments(count);
    std::vector<tn_command> commands;
    const auto extent = loaded->kernel.extent(1);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = i * step, origin = (count - 1 - i) * step;
      commands.push_back(launch_command(loaded->kernel, loaded->executable.get(), extent,
                                        {memory.get(), at}, {source.get(), origin}, 0,
                                        arguments[i]));
      loaded->kernel.apply(extent, from.range(origin, 4), model.range(at, 4), 0);
    }
    device.run(commands);
    std::vector<uint8_t> got(bytes.size());
    device.read(memory.get(), 0, 0, got);
    model.compare(0, 0, got, fmt::format("after a submission of {} launches", count));
  });
}

/// As many buffers as are claimed, and 16 scalars beside them.
void many_arguments(const CheckContext& c) {
  const OpenDevice device = submitting(c);
  need(device.computes(), "the device has memory only");
  const uint32_t claimed = device.properties().max_bindings;
  const uint32_t buffers = claimed ? std::min(claimed, 64u) : 64;
  bool any = false;
  for (const tn_dtype dtype : {TN_DTYPE_I32, TN_DTYPE_I64})
    for (const uint32_t count : {buffers, std::min(buffers, 17u), 1u})
      for (const uint32_t scalars : {0u, 16u}) {
        c.alive();
        any |= run_probe(device, arguments_program(dtype, count, scalars), false);
      }
  need(any, "the device takes no such program");
}

}  // namespace

std::span<const CheckRow> large_number_checks() {
  static constexpr CheckRow kRows[] = {
      {"large_fills", large_fills, 59},
      {"large_copies", large_copies, 59},
      {"large_maps", large_maps, 59},
      {"huge_slab", huge_slab, 59},
      {"half_gib_slab", half_gib_slab, 59},
      {"many_elements", many_elements, 59},
      {"crowded_submissions", crowded_submissions, 48},
      {"many_arguments", many_arguments, 54},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
