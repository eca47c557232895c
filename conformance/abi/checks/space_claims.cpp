// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of what a memory space may claim: maps that stay, and offsets of what is only read.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/slab.hpp"

namespace tenon::conformance::abi::checks {
namespace {

/// A pointer whose map is over.
struct KeptPointer {
  const uint8_t* data;
  uint64_t begin, size;

  KeptPointer(const OpenDevice& device, tn_memory* memory, uint64_t from, uint64_t count)
      : data(static_cast<const uint8_t*>(device.map(memory, from, count))),
        begin(from),
        size(count) {
    device.unmap(memory);
  }
  void expect_bytes(uint8_t wanted, uint32_t space) const {
    const uint8_t* const at =
        std::find_if(data, data + size, [&](uint8_t b) { return b != wanted; });
    if (at != data + size)
      find(
          "mismatch",
          "a pointer of memory_map, {} bytes from {} on in space {}, which claims "
          "TN_MEMORY_PERSISTENT: expected {:#04x} at {} after memory_unmap and a fill, got {:#04x}",
          size, begin, space, wanted, at - data, *at);
  }
};

/// Pointers that were got before show each submission's bytes, whatever is mapped since.
void expect_kept(const CheckContext& c, const OpenDevice& device, uint32_t space, uint64_t size) {
  const MemoryHandle memory = device.allocate(space, size);
  if (!memory) return;
  std::vector<KeptPointer> kept;
  for (uint8_t round = 1; round <= 4; ++round) {
    c.alive();
    kept.emplace_back(device, memory.get(), 0, size);
    kept.emplace_back(device, memory.get(), size / 3, size - size / 3);
    const MemoryHandle other = device.allocate(space, size);
    const tn_command fill = fill_command(memory.get(), 0, size, 0x0101010101010101 * round, 1);
    device.run({&fill, 1});
    for (const KeptPointer& pointer : kept) pointer.expect_bytes(round, space);
  }
  const std::vector<uint8_t> bytes(size, 0x61);
  device.write(memory.get(), space, 0, bytes);
  for (const KeptPointer& pointer : kept) pointer.expect_bytes(0x61, space);
}

void maps_that_stay(const CheckContext& c) {
  const OpenDevice device = submitting(c);
  bool any = false;
  for (uint32_t s = 0; s < device.spaces().size(); ++s) {
    if (!(device.spaces()[s].flags & TN_MEMORY_PERSISTENT)) continue;
    expect(device.is_visible(s),
           "properties: expected TN_MEMORY_HOST_VISIBLE in space {} with TN_MEMORY_PERSISTENT", s);
    any = true;
    for (const uint64_t size : {1, 4096, 10'001, 1 << 20}) expect_kept(c, device, s, size);
  }
  need(any, "no space claims TN_MEMORY_PERSISTENT");
}

/// Offsets below `alignment`: all, or some of them with the first and the last.
std::vector<uint64_t> offsets_below(uint64_t alignment, uint64_t step) {
  constexpr uint64_t kMost = 96;
  std::vector<uint64_t> steps(alignment / step);
  std::iota(steps.begin(), steps.end(), uint64_t{0});
  if (steps.size() > kMost) {
    const uint64_t last = steps.back();
    for (uint64_t i = 0; i < kMost / 2; ++i) steps[kMost / 2 + i] = last - (kMost / 2 - 1 - i);
    steps.resize(kMost);
  }
  for (uint64_t& offset : steps) offset *= step;
  return steps;
}

constexpr uint64_t kCount = 64;  ///< elements that a launch reads

/// Launches that read a slab from each of these offsets on, in one submission.
void expect_read(const OpenDevice& device, uint32_t space, const Loaded& loaded, tn_memory* from,
                 const std::vector<uint8_t>& bytes, const char* what) {
  const tn_memory_space& claims = device.spaces()[space];
  const uint64_t element = loaded.kernel.element_bytes();
  const auto extent = loaded.kernel.extent(kCount);
  const uint64_t apart =
      (extent.outputs * element + claims.alignment - 1) / claims.alignment * claims.alignment;
  const auto offsets =
      offsets_below(claims.alignment, std::max<uint64_t>(claims.read_alignment, element));
  const MemoryHandle out = device.allocate(space, offsets.size() * apart);
  need(out != nullptr, "no room for a slab");
  std::vector<LaunchArguments> arguments(offsets.size());
  std::vector<tn_command> commands;
  for (size_t i = 0; i < offsets.size(); ++i)
    commands.push_back(launch_command(loaded.kernel, loaded.executable.get(), extent,
                                      {out.get(), i * apart}, {from, offsets[i]}, 0, arguments[i]));
  device.run(commands);
  std::vector<uint8_t> got(offsets.size() * apart);
  device.read(out.get(), space, 0, got);
  Slab in;
  in.resize(bytes.size());
  in.set(0, bytes.data(), bytes.size(), 0);
  for (size_t i = 0; i < offsets.size(); ++i) {
    Slab wanted;
    wanted.resize(extent.outputs * element);
    loaded.kernel.apply(extent, in.range(offsets[i], extent.inputs * element),
                        wanted.range(0, wanted.size()), 0);
    for (uint64_t at = 0; at < wanted.size(); ++at)
      if (wanted.known[at] && wanted.bytes[at] != got[i * apart + at])
        find("mismatch",
             "a launch that reads {} of {} memory from byte {} on, in a space with a "
             "read_alignment of {}: expected {:#04x} as byte {} of the result, got {:#04x}",
             sdk::dtype_text(static_cast<uint8_t>(loaded.kernel.spec().dtype)), what, offsets[i],
             claims.read_alignment, wanted.bytes[at], at, got[i * apart + at]);
  }
}

void read_offsets(const CheckContext& c) {
  const OpenDevice device = computing(c);
  bool any = false;
  for (uint32_t s = 0; s < device.spaces().size(); ++s) {
    const tn_memory_space& space = device.spaces()[s];
    if (!(space.flags & TN_MEMORY_DEVICE) || space.read_alignment == 0 ||
        space.read_alignment >= space.alignment)
      continue;
    for (const tn_dtype dtype :
         {TN_DTYPE_U8, TN_DTYPE_I16, TN_DTYPE_U32, TN_DTYPE_F32, TN_DTYPE_I64, TN_DTYPE_F64}) {
      KernelSpec spec;
      spec.dtype = dtype;
      spec.threads = 8;
      const auto loaded = load_kernel(spec, device);
      if (!loaded) continue;
      c.alive();
      any = true;
      constexpr uint64_t kPage = 4096;
      const uint64_t size = (space.alignment + 8 * kCount + kPage - 1) / kPage * kPage;
      std::vector<uint8_t> storage(size + kPage);
      const uint64_t begin = (kPage - reinterpret_cast<uintptr_t>(storage.data()) % kPage) % kPage;
      std::vector<uint8_t> bytes(size);
      for (uint64_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i % 61 + 1);
      const MemoryHandle own = device.allocate(s, size);
      need(own != nullptr, "no room for a slab");
      device.write(own.get(), s, 0, bytes);
      expect_read(device, s, *loaded, own.get(), bytes, "allocated");
      if (!(space.flags & TN_MEMORY_IMPORT)) continue;
      std::ranges::copy(bytes, storage.begin() + static_cast<int64_t>(begin));
      tn_memory* made = nullptr;
      tn_error error = abi_struct<tn_error>();
      expect_ok(
          c.table().memory_import(device.handle(), s, storage.data() + begin, size, &made, &error),
          error, "memory_import");
      const MemoryHandle imported = device.own(made);
      expect_read(device, s, *loaded, made, bytes, "imported");
    }
  }
  need(any, "no space has a read_alignment below its alignment");
}

}  // namespace

std::span<const CheckRow> space_claim_checks() {
  static constexpr CheckRow kRows[] = {
      {"maps_that_stay", maps_that_stay, 24},
      {"read_offsets", read_offsets, 45},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
