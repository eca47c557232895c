// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs, fills and copies at any byte, imported memory, memory that the host does not see.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/vulkan/harness.hpp"

namespace tenon::vulkan_test {
namespace {

constexpr uint64_t kPattern = 0x8877665544332211;

std::vector<uint8_t> counted(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + 1);
  return bytes;
}

}  // namespace

TEST_CASE("a fill repeats its pattern from any byte and leaves the rest alone") {
  const Device& device = shared_device();
  constexpr uint64_t kSize = 8192;
  const Memory memory(device.get(), kSize);
  for (const uint32_t pattern_size : {1u, 2u, 4u, 8u}) {
    for (const uint64_t offset : {0u, 1u, 4u, 7u, 256u}) {
      for (const uint64_t count : {1u, 2u, 3u, 33u, 64u, 900u}) {
        const uint64_t size = count * pattern_size;
        memory.write(0, std::vector<uint8_t>(kSize, 0xEE));
        const tn_command command = fill(memory, offset, size, kPattern, pattern_size);
        device.run({&command, 1});
        std::vector<uint8_t> expected(kSize, 0xEE);
        for (uint64_t i = 0; i < size; ++i)
          expected[offset + i] = static_cast<uint8_t>(kPattern >> (i % pattern_size * 8));
        CAPTURE(pattern_size, offset, size);
        REQUIRE(memory.read(0, kSize) == expected);
      }
    }
  }
}

TEST_CASE("copies go from any byte to any byte, within a slab and between two") {
  const Device& device = shared_device();
  const std::vector<uint8_t> bytes = counted(4096);
  const Memory a(device.get(), bytes.size()), b(device.get(), bytes.size());
  a.write(0, bytes);
  for (const uint64_t from : {0u, 1u, 6u, 1023u}) {
    for (const uint64_t size : {1u, 2u, 5u, 64u, 999u}) {
      b.write(0, std::vector<uint8_t>(bytes.size(), 0));
      const tn_command commands[] = {copy(b, 3, a, from, size), copy(b, 2000, b, 3, size)};
      device.run(commands);
      const std::vector<uint8_t> expected(bytes.begin() + from, bytes.begin() + from + size);
      CAPTURE(from, size);
      CHECK(b.read(3, size) == expected);
      CHECK(b.read(2000, size) == expected);
      CHECK(b.read(2000 + size, 1)[0] == 0);
    }
  }
}

TEST_CASE("a slab larger than the space allows is out of memory, and the next one is there") {
  const Device& device = shared_device();
  const uint64_t largest = device.properties().memory_spaces[0].largest;
  REQUIRE(largest > 0);
  tn_memory* memory = nullptr;
  tn_error error = TN_INIT(tn_error);
  CHECK(plugin().memory_allocate(device.get(), 0, largest + 1, &memory, &error) ==
        TN_ERROR_OUT_OF_MEMORY);
  CHECK(memory == nullptr);
  CHECK_NOTHROW(Memory(device.get(), 1));
}

TEST_CASE("imported memory is read and written in place") {
  const Device& device = shared_device();
  if (!(device.properties().memory_spaces[0].flags & TN_MEMORY_IMPORT)) SKIP("no import");
  const std::unique_ptr<void, decltype(&std::free)> pages(std::aligned_alloc(4096, 16384),
                                                          std::free);
  auto* const bytes = static_cast<uint8_t*>(pages.get());
  for (const uint64_t offset : {uint64_t{0}, uint64_t{64}, uint64_t{4096 + 128}}) {
    std::memset(bytes, 1, 16384);
    tn_error error = TN_INIT(tn_error);
    tn_memory* imported = nullptr;
    require_ok(plugin().memory_import(device.get(), 0, bytes + offset, 1000, &imported, &error),
               error);
    const Memory other(device.get(), 1000);
    tn_command commands[2] = {fill(other, 0, 1000, 0x55, 1), copy(other, 0, other, 500, 100)};
    commands[1].source = imported;
    commands[1].source_offset = 5;
    device.run(commands);
    CHECK(other.read(0, 100) == std::vector<uint8_t>(100, 1));
    commands[0].destination = imported;
    device.run({commands, 1});
    CHECK(std::all_of(bytes + offset, bytes + offset + 1000, [](uint8_t b) { return b == 0x55; }));
    CHECK((offset == 0 || bytes[offset - 1] == 1));
    CHECK(bytes[offset + 1000] == 1);
    void* mapped = nullptr;
    require_ok(plugin().memory_map(imported, 10, 1, &mapped, &error), error);
    CHECK(mapped == bytes + offset + 10);
    plugin().memory_free(imported);
  }
  tn_memory* imported = nullptr;
  CHECK(plugin().memory_import(device.get(), 0, bytes + 3, 100, &imported, nullptr) ==
        TN_ERROR_UNSUPPORTED);
}

TEST_CASE("with staging the first space is not the host's, and a second one is copied through") {
  shared_device();
  const Device device("staging=1");
  const tn_properties& properties = device.properties();
  REQUIRE(properties.memory_space_count >= 2);
  CHECK_FALSE(properties.memory_spaces[0].flags & TN_MEMORY_HOST_VISIBLE);
  CHECK(properties.memory_spaces[1].flags & TN_MEMORY_HOST_VISIBLE);
  const std::vector<uint8_t> bytes = counted(333);
  const Memory hidden(device.get(), bytes.size()), visible(device.get(), bytes.size(), 1);
  CHECK_THROWS(hidden.read(0, 1));
  visible.write(0, bytes);
  const tn_command to = copy(hidden, 0, visible, 0, bytes.size());
  device.run({&to, 1});
  visible.write(0, std::vector<uint8_t>(bytes.size(), 0));
  const tn_command from = copy(visible, 0, hidden, 0, bytes.size());
  device.run({&from, 1});
  CHECK(visible.read(0, bytes.size()) == bytes);
}

TEST_CASE("an option that is not known is refused by name") {
  shared_device();
  tn_device* device = nullptr;
  tn_error error = TN_INIT(tn_error);
  CHECK(plugin().device_open(0, "colour=red", &device, &error) == TN_ERROR_INVALID_ARGUMENT);
  CHECK(std::string(error.message).find("colour") != std::string::npos);
}

}  // namespace tenon::vulkan_test
