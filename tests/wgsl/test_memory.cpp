// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies touch just the bytes they name, though WebGPU moves whole words: fills do in
// tests/sdk/recorder.cpp. Order and imports are tried by the checks of the conformance tool.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "tests/wgsl/harness.hpp"

using namespace tenon;
using namespace tenon::wgsl_test;

namespace {

constexpr size_t kSize = 64;

/// `to` with `bytes` at an offset.
Bytes patched(Bytes to, size_t offset, std::span<const unsigned char> bytes) {
  std::ranges::copy(bytes, to.begin() + static_cast<std::ptrdiff_t>(offset));
  return to;
}

}  // namespace

TEST_CASE("copies between host and device at every offset and size") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device(plugin());
  const Memory memory(device, kSize);
  const Bytes before = counting(kSize);
  for (size_t offset = 0; offset < 8; ++offset) {
    for (size_t size = 0; size <= 13; ++size) {
      CAPTURE(offset, size);
      memory.write(0, before);
      const Bytes data = counting(size, 101);
      memory.write(offset, data);
      const Bytes after = memory.read();
      REQUIRE(after == patched(before, offset, data));
      REQUIRE(memory.read(offset, size) == data);
    }
  }
}

TEST_CASE("copies on the device at every offset and size, in one slab and between two") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device(plugin());
  const Memory one(device, kSize), two(device, kSize);
  const Bytes before = counting(kSize);
  for (const bool same : {false, true}) {
    for (size_t from = 0; from < 4; ++from) {
      for (size_t to = 32; to < 36; ++to) {
        for (const size_t size : {1, 4, 7, 16}) {
          CAPTURE(same, from, to, size);
          const Memory& target = same ? one : two;
          one.write(0, before);
          two.write(0, before);
          device.run({sdk::copy_command(target, to, one, from, size)});
          const auto data = std::span(before).subspan(from, size);
          REQUIRE(target.read() == patched(before, to, data));
        }
      }
    }
  }
}

TEST_CASE("transfers larger than the device's own buffers, of odd sizes") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device(plugin());
  const size_t size = (size_t{9} << 20) + 3;
  const Memory memory(device, 2 * size + 64), host(device, size, 1);
  const Bytes data = counting(size);
  memory.write(1, data);
  REQUIRE(memory.read(1, size) == data);
  device.run({sdk::copy_command(memory, size + 5, memory, 1, size)});
  REQUIRE(memory.read(size + 5, size) == data);
  device.run({sdk::copy_command(memory, (size + 12) / 4 * 4, memory, 4, (size - 16) / 4 * 4)});
  const Bytes moved = memory.read((size + 12) / 4 * 4, (size - 16) / 4 * 4);
  REQUIRE(std::ranges::equal(moved, std::span(data).subspan(3, moved.size())));
  device.run({sdk::fill_command(memory, 3, size, 0x5a, 1)});
  REQUIRE(memory.read(3, size) == Bytes(size, 0x5a));
}

TEST_CASE("commands outside their memory are refused, and the device goes on") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device(plugin());
  const Memory a(device, kSize), host(device, kSize, 1);
  for (const tn_command& wrong :
       {sdk::copy_command(host, 0, a, 60, 5), sdk::copy_command(a, 61, host, 0, 4),
        sdk::copy_command(a, UINT64_MAX, a, 0, 4), sdk::fill_command(a, 64, 1, 0, 1)})
    CHECK(device.submit({&wrong, 1}) == TN_ERROR_INVALID_ARGUMENT);
  device.run({sdk::fill_command(a, 0, kSize, 9, 1)});
  CHECK(a.read() == Bytes(kSize, 9));
}
