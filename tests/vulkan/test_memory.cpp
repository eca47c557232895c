// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imported memory, and memory that the host does not see. Fills, copies and allocations are tried
// by the checks of the conformance tool.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/vulkan/harness.hpp"

namespace tenon::vulkan_test {
namespace {

Bytes counted(size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + 1);
  return bytes;
}

}  // namespace

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
    const Memory other(device, 1000);
    tn_command commands[2] = {sdk::fill_command(other, 0, 1000, 0x55, 1),
                              sdk::copy_command(other, 0, other, 500, 100)};
    commands[1].source = imported;
    commands[1].source_offset = 5;
    device.run(commands);
    CHECK(other.read(0, 100) == Bytes(100, 1));
    commands[0].destination = imported;
    device.run({commands[0]});
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
  const Device device(plugin(), "staging=1");
  const tn_properties& properties = device.properties();
  REQUIRE(properties.memory_space_count >= 2);
  CHECK_FALSE(properties.memory_spaces[0].flags & TN_MEMORY_HOST_VISIBLE);
  CHECK(properties.memory_spaces[1].flags & TN_MEMORY_HOST_VISIBLE);
  const Bytes bytes = counted(333);
  const Memory hidden(device, bytes.size()), visible(device, bytes.size(), 1);
  CHECK_THROWS(hidden.map(0, 1));
  visible.write(0, bytes);
  device.run({sdk::copy_command(hidden, 0, visible, 0, bytes.size())});
  visible.write(0, Bytes(bytes.size(), 0));
  device.run({sdk::copy_command(visible, 0, hidden, 0, bytes.size())});
  CHECK(visible.read() == bytes);
}

}  // namespace tenon::vulkan_test
