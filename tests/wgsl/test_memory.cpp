// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills touch just the bytes they name, though WebGPU moves whole words.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "tests/wgsl/harness.hpp"

using namespace tenon;
using namespace tenon::wgsl_test;

namespace {

constexpr size_t kSize = 64;

/// `to` with `bytes` at an offset.
Bytes patched(Bytes to, size_t offset, std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, to.begin() + static_cast<std::ptrdiff_t>(offset));
  return to;
}

}  // namespace

TEST_CASE("copies between host and device at every offset and size") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device;
  const Memory memory = device.allocate(0, kSize);
  const Bytes before = counting(kSize);
  for (size_t offset = 0; offset < 8; ++offset) {
    for (size_t size = 0; size <= 13; ++size) {
      CAPTURE(offset, size);
      device.write(memory.get(), 0, before);
      const Bytes data = counting(size, 101);
      device.write(memory.get(), offset, data);
      const Bytes after = device.read(memory.get(), 0, kSize);
      REQUIRE(after == patched(before, offset, data));
      REQUIRE(device.read(memory.get(), offset, size) == data);
    }
  }
}

TEST_CASE("copies on the device at every offset and size, in one slab and between two") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device;
  const Memory one = device.allocate(0, kSize), two = device.allocate(0, kSize);
  const Bytes before = counting(kSize);
  for (const bool same : {false, true}) {
    for (size_t from = 0; from < 4; ++from) {
      for (size_t to = 32; to < 36; ++to) {
        for (const size_t size : {1, 4, 7, 16}) {
          CAPTURE(same, from, to, size);
          tn_memory* const target = same ? one.get() : two.get();
          device.write(one.get(), 0, before);
          device.write(two.get(), 0, before);
          device.submit(std::vector{copy_command(one.get(), from, target, to, size)});
          const auto data = std::span(before).subspan(from, size);
          REQUIRE(device.read(target, 0, kSize) == patched(before, to, data));
        }
      }
    }
  }
}

TEST_CASE("fills of each pattern at every offset") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device;
  const Memory memory = device.allocate(0, kSize);
  const Bytes before = counting(kSize);
  for (const uint32_t width : {1u, 2u, 4u, 8u}) {
    for (size_t offset = 0; offset < 8; ++offset) {
      for (const uint64_t pattern : {UINT64_C(0), UINT64_C(0x8877665544332211)}) {
        for (size_t count = 0; count < 4; ++count) {
          CAPTURE(width, offset, pattern, count);
          Bytes expected = before;
          for (size_t i = 0; i < count; ++i)
            std::memcpy(expected.data() + offset + i * width, &pattern, width);
          device.write(memory.get(), 0, before);
          device.submit(
              std::vector{fill_command(memory.get(), offset, count * width, pattern, width)});
          REQUIRE(device.read(memory.get(), 0, kSize) == expected);
        }
      }
    }
  }
}

TEST_CASE("transfers larger than the device's own buffers, of odd sizes") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device;
  const size_t size = (size_t{9} << 20) + 3;
  const Memory memory = device.allocate(0, 2 * size + 64), host = device.allocate(1, size);
  const Bytes data = counting(size);
  device.write(memory.get(), 1, data);
  REQUIRE(device.read(memory.get(), 1, size) == data);
  device.submit(std::vector{copy_command(memory.get(), 1, memory.get(), size + 5, size)});
  REQUIRE(device.read(memory.get(), size + 5, size) == data);
  device.submit(std::vector{
      copy_command(memory.get(), 4, memory.get(), (size + 12) / 4 * 4, (size - 16) / 4 * 4)});
  const Bytes moved = device.read(memory.get(), (size + 12) / 4 * 4, (size - 16) / 4 * 4);
  REQUIRE(std::ranges::equal(moved, std::span(data).subspan(3, moved.size())));
  device.submit(std::vector{fill_command(memory.get(), 3, size, 0x5a, 1)});
  REQUIRE(device.read(memory.get(), 3, size) == Bytes(size, std::byte{0x5a}));
}

TEST_CASE("commands of one submission run in order") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device;
  const Memory a = device.allocate(0, kSize), b = device.allocate(0, kSize);
  const Memory host = device.allocate(1, kSize);
  device.submit(std::vector{
      fill_command(a.get(), 0, kSize, 0x01, 1), copy_command(a.get(), 0, b.get(), 0, kSize),
      fill_command(a.get(), 0, kSize, 0x02, 1), copy_command(a.get(), 1, b.get(), 0, 5),
      copy_command(b.get(), 0, host.get(), 0, kSize), fill_command(host.get(), 6, 1, 0x03, 1),
      fill_command(b.get(), 0, kSize, 0x04, 1), copy_command(host.get(), 0, a.get(), 0, kSize)});
  const Bytes got = device.read(a.get(), 0, kSize);
  for (size_t i = 0; i < kSize; ++i)
    REQUIRE(got[i] == static_cast<std::byte>(i < 5 ? 2 : i == 6 ? 3 : 1));
}

TEST_CASE("host memory is imported, device memory is not mapped, and too much is refused") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device;
  Bytes mine = counting(kSize);
  tn_memory* imported = nullptr;
  tn_error error = TN_INIT(tn_error);
  REQUIRE(plugin().memory_import(device.get(), 1, mine.data(), kSize, &imported, &error) == TN_OK);
  const Memory host(imported, plugin().memory_free), memory = device.allocate(0, kSize);
  device.submit(std::vector{copy_command(host.get(), 0, memory.get(), 0, kSize),
                            copy_command(memory.get(), 1, host.get(), 0, 9)});
  const Bytes before = counting(kSize);
  REQUIRE(mine == patched(before, 0, std::span(before).subspan(1, 9)));
  CHECK(plugin().memory_import(device.get(), 0, mine.data(), kSize, &imported, &error) ==
        TN_ERROR_UNSUPPORTED);
  void* pointer = nullptr;
  CHECK(plugin().memory_map(memory.get(), 0, 4, &pointer, &error) == TN_ERROR_UNSUPPORTED);
  for (const uint64_t size : {uint64_t{1} << 60, UINT64_MAX}) {
    tn_memory* none = nullptr;
    CHECK(plugin().memory_allocate(device.get(), 0, size, &none, &error) == TN_ERROR_OUT_OF_MEMORY);
  }
  CHECK_NOTHROW(device.write(memory.get(), 0, mine));  // and goes on
}

TEST_CASE("commands outside their memory are refused, and the device goes on") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device;
  const Memory a = device.allocate(0, kSize), host = device.allocate(1, kSize);
  for (const tn_command& wrong :
       {copy_command(a.get(), 60, host.get(), 0, 5), copy_command(host.get(), 0, a.get(), 61, 4),
        copy_command(a.get(), 0, a.get(), UINT64_MAX, 4), fill_command(a.get(), 64, 1, 0, 1)}) {
    try {
      device.submit(std::span(&wrong, 1));
      FAIL("expected a refusal");
    } catch (const Failed& failed) {
      CHECK(failed.code == TN_ERROR_INVALID_ARGUMENT);
    }
  }
  device.submit(std::vector{fill_command(a.get(), 0, kSize, 9, 1)});
  CHECK(device.read(a.get(), 0, kSize) == Bytes(kSize, std::byte{9}));
}
