// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices that fail: out of memory, lost, slow, refusing. On a synchronous device and on an
// asynchronous one whose memory the host does not see.
#include "core/device/device.hpp"

#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

const char* const kDevices[] = {"fake:0", "fake:1"};

}  // namespace

TEST_CASE("bytes go there and back, in parts, larger than the staging slab") {
  for (const char* id : kDevices) {
    Runtime runtime(options_for(id, "fake"));
    Device& device = runtime.device();
    const uint64_t size = (9 << 20) + 13;
    const BufferRef buffer = device.allocate(size, "big");
    std::vector<uint8_t> bytes(size), back(size);
    for (uint64_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 31 >> 4);
    device.write(*buffer, 0, bytes.data(), size);
    device.read(*buffer, 0, back.data(), size);
    CHECK(back == bytes);
    device.read(*buffer, size - 5, back.data(), 5);
    CHECK(back[4] == bytes[size - 1]);
    CHECK(
        has(error_of([&] { device.read(*buffer, size - 4, back.data(), 5); }), "[read] expected"));
    CHECK(has(error_of([&] { device.write(*buffer, UINT64_MAX, back.data(), 2); }), "[write]"));
    const BufferRef nothing = device.allocate(0);
    device.read(*nothing, 0, nullptr, 0);
    CHECK(nothing->memory() == nullptr);
  }
}

TEST_CASE("reads wait for the work on the buffer") {
  for (const char* id : kDevices) {
    Runtime runtime(options_for(std::string(id) + "@slow=20", "fake"));
    Device& device = runtime.device();
    const BufferRef buffer = filled(device, 1000, 1);
    const ExecutableRef fill = device.compile(*named_program("fill7").get());
    launch(fill, buffer);
    CHECK(contents(buffer) == std::vector<uint8_t>(1000, 7));
  }
}

TEST_CASE("a buffer released in flight is reused only after its work") {
  Runtime runtime(options_for("fake:0@slow=30", "fake"));
  Device& device = runtime.device();
  const ExecutableRef fill = device.compile(*named_program("fill7").get());
  BufferRef first = filled(device, 4096, 1);
  tn_memory* memory = first->memory();
  const uint64_t offset = first->offset();
  launch(fill, first);
  first.reset();  // still being written
  const BufferRef second = device.allocate(4096, "next");
  REQUIRE(second->memory() == memory);
  REQUIRE(second->offset() == offset);
  const std::vector<uint8_t> ones(4096, 1);
  device.write(*second, 0, ones.data(), 4096);
  CHECK(contents(second) == ones);
}

TEST_CASE("out of memory has no side effect and names the holders") {
  for (const char* id : kDevices) {
    Runtime runtime(options_for(std::string(id) + "@oom=12000000", "fake"));
    Device& device = runtime.device();
    BufferRef weights = device.allocate(3'500'000, "weights");
    ErrorKind kind{};
    const std::string message = error_of([&] { device.allocate(9'000'000, "batch"); }, &kind);
    CHECK(kind == ErrorKind::kOutOfMemory);
    CHECK(has(message, "for batch"));
    CHECK(has(message, "largest holders: weights 3.3 MiB in 1 block"));
    weights.reset();
    CHECK(device.bytes_in_use() == 0);
    CHECK(device.bytes_reserved() > 0);
    device.allocate(9'000'000, "batch");  // fits once the idle slab is given back
  }
}

TEST_CASE("@pool= bounds what a device holds") {
  Runtime runtime(options_for("fake:0@pool=4M", "fake"));
  const BufferRef a = runtime.device().allocate(3 << 20, "a");
  CHECK(has(error_of([&] { runtime.device().allocate(2 << 20, "b"); }), "of @pool=4.0 MiB"));
  CHECK(runtime.device().bytes_reserved() <= 4 << 20);
}

TEST_CASE("a failed kernel is told once, its buffers stay bad, the device goes on") {
  for (const char* id : kDevices) {
    CAPTURE(id);
    Runtime runtime(options_for(id, "fake"));
    Device& device = runtime.device();
    const ExecutableRef broken = device.compile(*named_program("broken").get());
    const ExecutableRef fill = device.compile(*named_program("fill7").get());
    const BufferRef bad = filled(device, 64, 1), skipped = filled(device, 64, 1);
    launch(broken, bad);
    launch(fill, skipped);  // after a failure that nobody knows of yet
    ErrorKind kind{};
    CHECK(has(error_of([&] { device.synchronize(); }, &kind), std::string("[submit] ") + id));
    CHECK(kind == ErrorKind::kInternal);
    device.synchronize();
    CHECK(has(error_of([&] { contents(bad); }), "[submit]"));
    const BufferRef good = filled(device, 64, 1);
    launch(fill, good);
    CHECK(contents(good)[63] == 7);
  }
}

TEST_CASE("a failure told by a read does not spoil what comes after") {
  for (const char* id : kDevices) {
    CAPTURE(id);
    Runtime runtime(options_for(id, "fake"));
    Device& device = runtime.device();
    const ExecutableRef broken = device.compile(*named_program("broken").get());
    const ExecutableRef fill = device.compile(*named_program("fill7").get());
    for (int i = 0; i < 3; ++i) {
      const BufferRef bad = filled(device, 64, 1), depends = filled(device, 64, 1);
      launch(broken, bad);
      launch(fill, depends);
      CHECK(has(error_of([&] { contents(bad); }), "[submit]"));
      CHECK(has(error_of([&] { contents(depends); }), "[submit]"));
      const BufferRef good = filled(device, 64, 1);
      launch(fill, good);
      CHECK(contents(good)[63] == 7);
    }
    device.synchronize();
  }
}

TEST_CASE("a lost device stays lost, the others go on") {
  for (const char* id : kDevices) {
    CAPTURE(id);
    const std::string other = std::string(id) == "fake:0" ? "fake:1" : "fake:0";
    Runtime runtime(options_for(std::string(id) + "@lose=3," + other, "fake"));
    Device& device = runtime.device();
    const ExecutableRef fill = device.compile(*named_program("fill7").get());
    const BufferRef buffer = device.allocate(64, "b");
    ErrorKind kind{};
    for (int i = 0; i < 3; ++i) launch(fill, buffer);
    for (int i = 0; i < 2; ++i) {
      CHECK_FALSE(error_of([&] { device.synchronize(); }, &kind).empty());
      CHECK(kind == ErrorKind::kDeviceLost);
      CHECK_FALSE(error_of([&] { contents(buffer); }, &kind).empty());
      CHECK(kind == ErrorKind::kDeviceLost);
      CHECK_FALSE(error_of([&] {
                    launch(fill, buffer);
                    device.synchronize();
                  }).empty());
    }
    Device& healthy = runtime.device(other);
    const BufferRef there = filled(healthy, 64, 1);
    launch(healthy.compile(*named_program("fill7").get()), there);
    CHECK(contents(there)[0] == 7);
  }
}

TEST_CASE("a refused program gives the plugin's reason") {
  Runtime runtime(options_for("fake:0", "fake"));
  ErrorKind kind{};
  CHECK(has(error_of([&] { runtime.device().compile(*named_program("refused").get()); }, &kind),
            "kernel refused is refused: the fake device has principles"));
  CHECK(kind == ErrorKind::kUnsupported);
}

TEST_CASE("guard zones tell who wrote too far, also when the buffer is gone") {
  for (const bool keep : {true, false}) {
    for (const char* id : kDevices) {
      RuntimeOptions options = options_for(id, "fake");
      options.guard_bytes = 64;
      Runtime runtime(options);
      Device& device = runtime.device();
      BufferRef buffer = device.allocate(100, "scores");
      CHECK(contents(buffer) == std::vector<uint8_t>(100, 0xA5));
      launch(device.compile(*named_program("fill7").get()), buffer);
      CHECK(device.check_guards().empty());
      device.set_poison(0x5A);  // of fresh buffers; the others keep theirs
      CHECK(contents(device.allocate(10)) == std::vector<uint8_t>(10, 0x5A));
      CHECK(device.check_guards().empty());
      launch(device.compile(*named_program("overrun").get()), buffer);
      if (!keep) buffer.reset();
      CHECK(has(device.check_guards(),
                "[guard] scores: expected byte 0 after its 100 bytes to be 0xa5, got 0x07"));
    }
  }
}

TEST_CASE("threads share a device") {
  for (const char* id : kDevices) {
    Runtime runtime(options_for(id, "fake"));
    Device& device = runtime.device();
    const ExecutableRef fill = device.compile(*named_program("fill7").get());
    std::vector<std::jthread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          const BufferRef buffer = filled(device, 512, 1);
          launch(fill, buffer);
          wrong += contents(buffer) != std::vector<uint8_t>(512, 7);
        }
      });
    }
    threads.clear();
    CHECK(wrong == 0);
  }
}
