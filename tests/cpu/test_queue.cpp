// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Submissions, timelines and their failures, copies, fills, imports, threads and device options.
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

struct Timeline {
  explicit Timeline(const Device& device, uint64_t value = 0) {
    tn_error error = TN_INIT(tn_error);
    require_ok(plugin().timeline_create(device.get(), value, &handle, &error), error);
  }
  ~Timeline() { plugin().timeline_destroy(handle); }
  int32_t wait(uint64_t value, uint64_t timeout_ns, tn_error* error = nullptr) const {
    return plugin().timeline_wait(handle, value, timeout_ns, error);
  }
  tn_timeline* handle = nullptr;
};

struct Slab {
  Slab(const Device& device, uint64_t bytes)
      : handle(device.allocate(bytes)),
        data(static_cast<unsigned char*>(device.map(handle, bytes))),
        size(bytes) {}
  ~Slab() { plugin().memory_free(handle); }
  tn_memory* handle;
  unsigned char* data;
  uint64_t size;
};

tn_command fill_command(const Slab& to, uint64_t offset, uint64_t size, uint64_t pattern,
                        uint32_t pattern_size) {
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_FILL;
  command.destination = to.handle;
  command.destination_offset = offset;
  command.size = size;
  command.pattern = pattern;
  command.pattern_size = pattern_size;
  return command;
}

tn_command copy_command(const Slab& to, uint64_t to_offset, const Slab& from, uint64_t from_offset,
                        uint64_t size) {
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_COPY;
  command.destination = to.handle;
  command.destination_offset = to_offset;
  command.source = from.handle;
  command.source_offset = from_offset;
  command.size = size;
  return command;
}

int32_t submit(const Device& device, std::span<const tn_command> commands,
               std::span<const tn_point> waits, std::span<const tn_point> signals) {
  tn_submission submission = TN_INIT(tn_submission);
  submission.command_count = static_cast<uint32_t>(commands.size());
  submission.command_stride = sizeof(tn_command);
  submission.commands = commands.data();
  submission.waits = waits.data();
  submission.wait_count = static_cast<uint32_t>(waits.size());
  submission.signals = signals.data();
  submission.signal_count = static_cast<uint32_t>(signals.size());
  tn_error error = TN_INIT(tn_error);
  return plugin().submit(device.get(), &submission, &error);
}

constexpr uint64_t kForever = UINT64_MAX, kMillisecond = 1'000'000;

}  // namespace

TEST_CASE("fills and copies of all sizes, small and large") {
  const Device device("threads=2");
  for (uint64_t size : {uint64_t{0}, uint64_t{8}, uint64_t{1016}, uint64_t{24} << 20}) {
    Slab a(device, size + 64), b(device, size + 64);
    std::memset(a.data, 0xaa, size + 64);
    std::memset(b.data, 0xbb, size + 64);
    for (uint32_t pattern_size : {1, 2, 4, 8}) {
      const uint64_t pattern = 0x8877665544332211;
      const tn_command commands[] = {fill_command(a, 16, size, pattern, pattern_size),
                                     copy_command(b, 24, a, 16, size)};
      device.submit_and_wait(commands);
      size_t wrong = 0;
      for (uint64_t i = 0; i < size; ++i)
        wrong += b.data[24 + i] != static_cast<unsigned char>(pattern >> (8 * (i % pattern_size)));
      CHECK(wrong == 0);
      CHECK(a.data[15] == 0xaa);
      CHECK(a.data[16 + size] == 0xaa);
      CHECK(b.data[23] == 0xbb);
      CHECK(b.data[24 + size] == 0xbb);
    }
  }
}

TEST_CASE("a submission waits for a timeline of another device, and runs in order") {
  const Device device("threads=1"), other("threads=1");
  Slab slab(device, 64);
  std::memset(slab.data, 0, 64);
  const Timeline go(other), done(device);
  const tn_command one = fill_command(slab, 0, 64, 1, 1), two = fill_command(slab, 0, 64, 2, 1);
  const tn_point wait{go.handle, 5}, first{done.handle, 1}, second{done.handle, 2};
  REQUIRE(submit(device, {&one, 1}, {&wait, 1}, {&first, 1}) == TN_OK);
  REQUIRE(submit(device, {&two, 1}, {}, {&second, 1}) == TN_OK);
  CHECK(done.wait(1, 30 * kMillisecond) == TN_ERROR_TIMEOUT);
  CHECK(slab.data[0] == 0);
  REQUIRE(plugin().timeline_signal(go.handle, 5, nullptr) == TN_OK);
  CHECK(done.wait(2, kForever) == TN_OK);
  CHECK(slab.data[63] == 2);
  uint64_t value = 0;
  CHECK(plugin().timeline_query(done.handle, &value, nullptr) == TN_OK);
  CHECK(value == 2);
}

TEST_CASE("what is submitted is done whether or not somebody waits for it") {
  for (const char* options : {"threads=1", "threads=2"}) {
    const Device device(options);
    Slab slab(device, uint64_t{16} << 20);
    const Timeline done(device);
    const auto reached = [&] {
      uint64_t value = 0;
      CHECK(plugin().timeline_query(done.handle, &value, nullptr) == TN_OK);
      return value;
    };
    for (uint64_t round = 1; round <= 40; ++round) {
      CAPTURE(options, round);
      const auto byte = static_cast<unsigned char>(round);
      const tn_command fill = fill_command(slab, 0, slab.size, byte, 1);  // too long for submit
      const tn_point signal{done.handle, round};
      REQUIRE(submit(device, {&fill, 1}, {}, {&signal, 1}) == TN_OK);
      if (round % 4 == 0) {
        while (reached() < round) std::this_thread::yield();
      } else if (round % 4 == 1) {
        CHECK(done.wait(round, kForever) == TN_OK);
      } else if (round % 4 == 2) {
        CHECK(done.wait(round, 60'000 * kMillisecond) == TN_OK);
      } else {
        continue;  // the next one comes at once
      }
      CHECK(slab.data[0] == byte);
      CHECK(slab.data[slab.size - 1] == byte);
      if (round % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  }
}

TEST_CASE("several threads wait for work of one device") {
  const Device device("threads=2");
  Slab slab(device, uint64_t{16} << 20);
  const Timeline done(device);
  std::atomic<int> right{0};
  for (uint64_t round = 1; round <= 20; ++round) {
    const tn_command fill = fill_command(slab, 0, slab.size, round, 1);
    const tn_point signals[] = {{done.handle, 2 * round - 1}, {done.handle, 2 * round}};
    REQUIRE(submit(device, {&fill, 1}, {}, {&signals[0], 1}) == TN_OK);
    REQUIRE(submit(device, {&fill, 1}, {}, {&signals[1], 1}) == TN_OK);
    std::vector<std::jthread> waiting;
    for (uint64_t t = 0; t < 3; ++t)
      waiting.emplace_back([&, t] { right += done.wait(2 * round - t % 2, kForever) == TN_OK; });
  }
  CHECK(right == 60);
}

TEST_CASE("a failure travels through timelines") {
  const Device device("threads=2");
  Timeline broken(device), after(device);
  auto closing = std::make_unique<Device>("threads=1");
  const Timeline never(device);
  const tn_point wait_never{never.handle, 1}, breaks{broken.handle, 1}, follows{after.handle, 1};
  // Closing a device fails what still waits there; what waits for that fails in turn.
  REQUIRE(submit(*closing, {}, {&wait_never, 1}, {&breaks, 1}) == TN_OK);
  REQUIRE(submit(device, {}, {&breaks, 1}, {&follows, 1}) == TN_OK);
  closing.reset();
  tn_error error = TN_INIT(tn_error);
  CHECK(broken.wait(1, kForever, &error) == TN_ERROR_DEVICE_LOST);
  CHECK(after.wait(1, kForever, &error) == TN_ERROR_DEVICE_LOST);
  CHECK(std::string(error.message).find("closed") != std::string::npos);
  CHECK(after.wait(0, 0) == TN_OK);  // what was reached before stays reached
  Slab slab(device, 64);
  const tn_command fill = fill_command(slab, 0, 64, 7, 1);
  device.submit_and_wait({&fill, 1});
  CHECK(slab.data[5] == 7);
}

TEST_CASE("bad submissions are refused before anything runs") {
  const Device device;
  Slab slab(device, 64);
  slab.data[0] = 9;
  const tn_command good = fill_command(slab, 0, 64, 1, 1);
  std::vector<tn_command> bad = {fill_command(slab, 1, 64, 0, 1), fill_command(slab, 65, 1, 0, 1),
                                 fill_command(slab, 0, 10, 0, 4), fill_command(slab, 0, 9, 0, 3),
                                 copy_command(slab, 0, slab, UINT64_MAX, 8)};
  const tn_dtype input[] = {TN_DTYPE_F32};
  tn_executable* executable =
      device.compile(elementwise_program(TN_OP_SQRT, input, TN_DTYPE_F32, 1));
  tn_argument arguments[3] = {};
  for (tn_argument& argument : arguments) {
    argument.kind = TN_ARGUMENT_BUFFER;
    argument.memory = slab.handle;
    argument.size = 64;
  }
  bad.push_back(launch_command(executable, {1}, {arguments, 1}));
  bad.push_back(launch_command(executable, {1}, {arguments, 3}));
  bad.push_back(launch_command(executable, {1}, {arguments, 2}));
  bad.back().block[0] = 2;
  tn_argument wrong[4][2];
  for (auto& pair : wrong) pair[0] = pair[1] = arguments[0];
  wrong[0][1].kind = TN_ARGUMENT_SCALAR;
  wrong[1][1].offset = 4;  // past the end
  wrong[2][1].offset = 2;  // not aligned
  wrong[2][1].size = 8;
  wrong[3][1].memory = nullptr;
  for (auto& pair : wrong) bad.push_back(launch_command(executable, {1}, pair));
  for (size_t i = 0; i < bad.size(); ++i) {
    CAPTURE(i);
    const tn_command pair[] = {good, bad[i]};
    CHECK(submit(device, pair, {}, {}) == TN_ERROR_INVALID_ARGUMENT);
  }
  CHECK(slab.data[0] == 9);
  device.submit_and_wait({});
  plugin().executable_destroy(executable);
}

TEST_CASE("host memory is imported in place") {
  const Device device;
  auto* data = static_cast<float*>(std::aligned_alloc(64, 4096));
  for (int i = 0; i < 1024; ++i) data[i] = static_cast<float>(i * i);
  tn_error error = TN_INIT(tn_error);
  tn_memory* memory = nullptr;
  CHECK(plugin().memory_import(device.get(), 0, data + 1, 64, &memory, &error) ==
        TN_ERROR_INVALID_ARGUMENT);
  require_ok(plugin().memory_import(device.get(), 0, data, 4096, &memory, &error), error);
  const tn_dtype input[] = {TN_DTYPE_F32};
  tn_executable* executable =
      device.compile(elementwise_program(TN_OP_SQRT, input, TN_DTYPE_F32, 16));
  tn_argument argument = {};
  argument.kind = TN_ARGUMENT_BUFFER;
  argument.memory = memory;
  argument.size = 4096;
  const tn_argument both[] = {argument, argument};
  const tn_command command = launch_command(executable, {64}, both);
  device.submit_and_wait({&command, 1});
  CHECK(data[1023] == 1023.0f);
  plugin().executable_destroy(executable);
  plugin().memory_free(memory);
  std::free(data);
}

TEST_CASE("more memory than there is, is refused and leaves nothing behind") {
  const Device device;
  const uint64_t total = device.properties().memory_spaces[0].total;
  tn_error error = TN_INIT(tn_error);
  tn_memory* memory = nullptr;
  for (uint64_t size : {total + 1, uint64_t{1} << 62, UINT64_MAX}) {
    CHECK(plugin().memory_allocate(device.get(), 0, size, &memory, &error) ==
          TN_ERROR_OUT_OF_MEMORY);
    CHECK(memory == nullptr);
  }
  const Slab slab(device, 1 << 20);
  slab.data[0] = 1;
}

TEST_CASE("never more threads than asked") {
  for (uint32_t threads : {1u, 2u, 3u}) {
    const Device device(("threads=" + std::to_string(threads)).c_str());
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
    const auto seen = from_bytes<int64_t>(target);
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

TEST_CASE("submissions from several threads to one device") {
  const Device device("threads=2");
  const tn_dtype inputs[] = {TN_DTYPE_I32, TN_DTYPE_I32};
  tn_executable* executable =
      device.compile(elementwise_program(TN_OP_ADD, inputs, TN_DTYPE_I32, 8));
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        const int32_t groups = round % 2 ? 1 : 2000;
        std::vector<int32_t> x(static_cast<size_t>(groups) * 8, t), y(x.size(), round);
        Bytes a = to_bytes(x), b = to_bytes(y), c(a.size());
        const Argument arguments[] = {{&a}, {&b}, {&c}};
        device.launch(executable, {static_cast<uint32_t>(groups)}, arguments);
        right += from_bytes<int32_t>(c) == std::vector<int32_t>(x.size(), t + round);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 200);
  plugin().executable_destroy(executable);
}

}  // namespace tenon::cpu_test
