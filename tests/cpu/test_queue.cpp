// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Submissions, timelines and their failures, imports, threads and device options. The checks of the
// conformance tool try copies, fills and allocations.
#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "tests/cpu/harness.hpp"

namespace tenon::cpu_test {
namespace {

using Value = sdk::ProgramBuilder::Value;

/// Memory that stays mapped.
struct Slab : Memory {
  Slab(const Device& device, uint64_t bytes) : Memory(device, bytes), data(map(0, bytes)) {}
  unsigned char* data;
};

constexpr uint64_t kMillisecond = 1'000'000;

}  // namespace

TEST_CASE("a submission waits for a timeline of another device, and runs in order") {
  const Device device(plugin(), "threads=1"), other(plugin(), "threads=1");
  Slab slab(device, 64);
  std::memset(slab.data, 0, 64);
  const Timeline go(other), done(device);
  const tn_command one = sdk::fill_command(slab, 0, 64, 1, 1),
                   two = sdk::fill_command(slab, 0, 64, 2, 1);
  const tn_point wait = go.at(5), first = done.at(1), second = done.at(2);
  REQUIRE(device.submit({&one, 1}, {&wait, 1}, {&first, 1}) == TN_OK);
  REQUIRE(device.submit({&two, 1}, {}, {&second, 1}) == TN_OK);
  CHECK(done.wait(1, 30 * kMillisecond) == TN_ERROR_TIMEOUT);
  CHECK(slab.data[0] == 0);
  REQUIRE(go.signal(5) == TN_OK);
  CHECK(done.wait(2) == TN_OK);
  CHECK(slab.data[63] == 2);
  uint64_t value = 0;
  CHECK(done.query(value) == TN_OK);
  CHECK(value == 2);
}

TEST_CASE("what is submitted is done whether or not somebody waits for it") {
  for (const char* options : {"threads=1", "threads=2"}) {
    const Device device(plugin(), options);
    Slab slab(device, uint64_t{16} << 20);
    const Timeline done(device);
    const auto reached = [&] {
      uint64_t value = 0;
      CHECK(done.query(value) == TN_OK);
      return value;
    };
    for (uint64_t round = 1; round <= 40; ++round) {
      CAPTURE(options, round);
      const auto byte = static_cast<unsigned char>(round);
      const tn_command fill =
          sdk::fill_command(slab, 0, slab.size(), byte, 1);  // too long for submit
      const tn_point signal = done.at(round);
      REQUIRE(device.submit({&fill, 1}, {}, {&signal, 1}) == TN_OK);
      if (round % 4 == 0) {
        while (reached() < round) std::this_thread::yield();
      } else if (round % 4 == 1) {
        CHECK(done.wait(round) == TN_OK);
      } else if (round % 4 == 2) {
        CHECK(done.wait(round, 60'000 * kMillisecond) == TN_OK);
      } else {
        continue;  // the next one comes at once
      }
      CHECK(slab.data[0] == byte);
      CHECK(slab.data[slab.size() - 1] == byte);
      if (round % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  }
}

TEST_CASE("several threads wait for work of one device") {
  const Device device(plugin(), "threads=2");
  Slab slab(device, uint64_t{16} << 20);
  const Timeline done(device);
  std::atomic<int> right{0};
  for (uint64_t round = 1; round <= 20; ++round) {
    const tn_command fill = sdk::fill_command(slab, 0, slab.size(), round, 1);
    const tn_point signals[] = {done.at(2 * round - 1), done.at(2 * round)};
    REQUIRE(device.submit({&fill, 1}, {}, {&signals[0], 1}) == TN_OK);
    REQUIRE(device.submit({&fill, 1}, {}, {&signals[1], 1}) == TN_OK);
    std::vector<std::jthread> waiting;
    for (uint64_t t = 0; t < 3; ++t)
      waiting.emplace_back([&, t] { right += done.wait(2 * round - t % 2) == TN_OK; });
  }
  CHECK(right == 60);
}

TEST_CASE("a failure travels through timelines") {
  const Device device(plugin(), "threads=2");
  Timeline broken(device), after(device);
  auto closing = std::make_unique<Device>(plugin(), "threads=1");
  const Timeline never(device);
  const tn_point wait_never = never.at(1), breaks = broken.at(1), follows = after.at(1);
  // Closing a device fails what still waits there; what waits for that fails in turn.
  REQUIRE(closing->submit({}, {&wait_never, 1}, {&breaks, 1}) == TN_OK);
  REQUIRE(device.submit({}, {&breaks, 1}, {&follows, 1}) == TN_OK);
  closing.reset();
  CHECK(broken.wait(1) == TN_ERROR_DEVICE_LOST);
  CHECK(after.wait(1) == TN_ERROR_DEVICE_LOST);
  CHECK(after.message.find("closed") != std::string::npos);
  CHECK(after.wait(0, 0) == TN_OK);  // what was reached before stays reached
  Slab slab(device, 64);
  device.run({sdk::fill_command(slab, 0, 64, 7, 1)});
  CHECK(slab.data[5] == 7);
}

TEST_CASE("bad submissions are refused before anything runs") {
  const Device device(plugin());
  Slab slab(device, 64);
  slab.data[0] = 9;
  const tn_command good = sdk::fill_command(slab, 0, 64, 1, 1);
  std::vector<tn_command> bad = {
      sdk::fill_command(slab, 1, 64, 0, 1), sdk::fill_command(slab, 65, 1, 0, 1),
      sdk::fill_command(slab, 0, 10, 0, 4), sdk::fill_command(slab, 0, 9, 0, 3),
      sdk::copy_command(slab, 0, slab, UINT64_MAX, 8)};
  const tn_dtype input[] = {TN_DTYPE_F32};
  const Executable executable =
      device.compile(elementwise_program(TN_OP_SQRT, input, TN_DTYPE_F32, 1));
  const std::vector<tn_argument> arguments(3, sdk::buffer_argument(slab, 0, 64));
  for (const size_t count : {1, 3, 2})
    bad.push_back(sdk::launch_command(executable, {}, {}, std::span(arguments).first(count)));
  bad.back().block[0] = 2;
  tn_argument wrong[4][2];
  for (auto& pair : wrong) pair[0] = pair[1] = arguments[0];
  wrong[0][1].kind = TN_ARGUMENT_SCALAR;
  wrong[1][1].offset = 4;  // past the end
  wrong[2][1].offset = 2;  // not aligned
  wrong[2][1].size = 8;
  wrong[3][1].memory = nullptr;
  for (auto& pair : wrong) bad.push_back(sdk::launch_command(executable, {}, {}, pair));
  for (size_t i = 0; i < bad.size(); ++i) {
    CAPTURE(i);
    const tn_command pair[] = {good, bad[i]};
    CHECK(device.submit(pair, {}, {}) == TN_ERROR_INVALID_ARGUMENT);
  }
  CHECK(slab.data[0] == 9);
  device.run({});
}

TEST_CASE("host memory is imported in place") {
  const Device device(plugin());
  auto* data = static_cast<float*>(std::aligned_alloc(64, 4096));
  for (int i = 0; i < 1024; ++i) data[i] = static_cast<float>(i * i);
  tn_error error = TN_INIT(tn_error);
  tn_memory* memory = nullptr;
  CHECK(plugin().memory_import(device.get(), 0, data + 1, 64, &memory, &error) ==
        TN_ERROR_INVALID_ARGUMENT);
  require_ok(plugin().memory_import(device.get(), 0, data, 4096, &memory, &error), error);
  const tn_dtype input[] = {TN_DTYPE_F32};
  const Executable executable =
      device.compile(elementwise_program(TN_OP_SQRT, input, TN_DTYPE_F32, 16));
  const tn_argument argument = sdk::buffer_argument(memory, 0, 4096), both[] = {argument, argument};
  device.run({sdk::launch_command(executable, {64}, {}, both)});
  CHECK(data[1023] == 1023.0f);
  plugin().memory_free(memory);
  std::free(data);
}

TEST_CASE("never more threads than asked") {
  for (uint32_t threads : {1u, 2u, 3u}) {
    const Device device(plugin(), ("threads=" + std::to_string(threads)).c_str());
    const uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
    CHECK(device.properties().compute_units == std::min(threads, cores));
    // Each workgroup works a while and says which thread ran it.
    sdk::ProgramBuilder b("who");
    const Value out = b.buffer("out", TN_DTYPE_I64, TN_ACCESS_WRITE);
    const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I64);
    const auto number = [&](uint64_t v) { return b.constant(TN_DTYPE_I64, v); };
    const std::vector<Value> start = {number(1)};
    const Value loop = b.begin_loop(number(0), number(20000), number(1), start);
    const std::vector<Value> next = {b.op(TN_OP_MOD, TN_DTYPE_I64, 1, {loop + 1, loop})};
    b.end(next);
    const Value thread = b.index(TN_AXIS_CPU_THREAD, TN_DTYPE_I64);
    const Value zero = b.op(TN_OP_MUL, TN_DTYPE_I64, 1, {loop + 1, number(0)});
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
         {out, group, b.op(TN_OP_ADD, TN_DTYPE_I64, 1, {thread, zero})});
    Bytes target(512 * 8, 0xff);
    device.run(b.finish(), {512}, {{&target}});
    const auto seen = values_of<int64_t>(target);
    const std::set<int64_t> distinct(seen.begin(), seen.end());
    CHECK(*distinct.begin() >= 0);
    CHECK(*distinct.rbegin() < threads);
  }
}

TEST_CASE("bad device options are refused") {
  for (const char* options : {"threads=0", "threads=-1", "threads=x", "threads=", "threads=99999",
                              "colour=red", "threads=2,colour=red"}) {
    tn_error error = TN_INIT(tn_error);
    tn_device* device = nullptr;
    CAPTURE(options);
    CHECK(plugin().device_open(0, options, &device, &error) == TN_ERROR_INVALID_ARGUMENT);
    CHECK(device == nullptr);
    CHECK(std::string(error.message).find("option") != std::string::npos);
  }
  tn_device* device = nullptr;
  CHECK(plugin().device_open(1, nullptr, &device, nullptr) != TN_OK);
}

TEST_CASE("the processor is enumerated the same each time") {
  tn_device_info first = TN_INIT(tn_device_info), second = TN_INIT(tn_device_info);
  uint32_t count = 0;
  REQUIRE(plugin().device_enumerate(1, sizeof first, &first, 0, nullptr, &count, nullptr) == TN_OK);
  REQUIRE(count == 1);
  REQUIRE(plugin().device_enumerate(1, sizeof second, &second, 0, nullptr, &count, nullptr) ==
          TN_OK);
  CHECK(std::memcmp(&first, &second, sizeof first) == 0);
  CHECK(first.kind == TN_DEVICE_CPU);
  CHECK(std::string(first.name) != "");
  CHECK(std::string(first.driver).starts_with("llvm 19"));
  const unsigned char none[16] = {};
  CHECK(std::memcmp(first.uuid, none, 16) != 0);
}

}  // namespace tenon::cpu_test
