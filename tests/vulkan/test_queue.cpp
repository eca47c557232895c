// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Order, timelines, failures that travel, and launches that do not fit.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstring>
#include <thread>

#include "tenon/ext/timing.h"
#include "tests/vulkan/harness.hpp"

namespace tenon::vulkan_test {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint32_t kQueueCount = 1000, kQueueThreads = 64,
                   kGrid = (kQueueCount + kQueueThreads - 1) / kQueueThreads;
constexpr uint64_t kBytes = kQueueCount * 4;

/// An executable, and buffers that it adds in.
struct Adder {
  const Device& device = shared_device();
  tn_executable* executable = device.compile(add_program(kQueueCount, kQueueThreads));
  Memory a{device.get(), kBytes}, b{device.get(), kBytes};
  ~Adder() { plugin().executable_destroy(executable); }

  std::vector<tn_argument> arguments(const Memory& in, const Memory& out, uint32_t add) const {
    return {buffer(in, 0, kBytes), buffer(out, 0, kBytes), scalar(add)};
  }
  int32_t element(const Memory& memory, uint32_t i) const {
    const std::vector<uint8_t> bytes = memory.read(uint64_t{i} * 4, 4);
    int32_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
};

}  // namespace

TEST_CASE("commands of a submission run as if in order") {
  const Adder adder;
  const auto there = adder.arguments(adder.a, adder.b, 3),
             back = adder.arguments(adder.b, adder.a, 4);
  std::vector<tn_command> commands = {fill(adder.a, 0, kBytes, 0, 4)};
  for (int i = 0; i < 50; ++i) {
    commands.push_back(launch(adder.executable, kGrid, kQueueThreads, there));
    commands.push_back(launch(adder.executable, kGrid, kQueueThreads, back));
  }
  commands.push_back(fill(adder.b, 0, kBytes, 9, 8));
  commands.push_back(copy(adder.b, 4, adder.a, 0, 4));
  adder.device.run(commands);
  CHECK(adder.element(adder.a, 0) == 350);
  CHECK(adder.element(adder.a, kQueueCount - 1) == 350);
  CHECK(adder.element(adder.b, 0) == 9);
  CHECK(adder.element(adder.b, 1) == 350);
  CHECK(adder.element(adder.b, 2) == 9);
}

TEST_CASE("commands are timed by the device's clock") {
  const auto* timing = static_cast<const tn_timing*>(plugin().get_extension(TN_TIMING_ID));
  REQUIRE(timing);
  CHECK(timing->struct_size == sizeof(tn_timing));
  const Adder adder;
  const auto there = adder.arguments(adder.a, adder.b, 3),
             back = adder.arguments(adder.b, adder.a, 4);
  std::vector<tn_command> commands = {fill(adder.a, 0, kBytes, 0, 4)};
  for (int i = 0; i < 200; ++i) {
    commands.push_back(launch(adder.executable, kGrid, kQueueThreads, there));
    commands.push_back(launch(adder.executable, kGrid, kQueueThreads, back));
  }
  tn_error error = TN_INIT(tn_error);
  const auto timed = [&](uint32_t count) {
    tn_submission submission = TN_INIT(tn_submission);
    submission.command_count = count;
    submission.command_stride = sizeof(tn_command);
    submission.commands = commands.data();
    uint64_t nanoseconds = 0;
    const auto begin = std::chrono::steady_clock::now();
    require_ok(timing->run(adder.device.get(), &submission, &nanoseconds, &error), error);
    const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - begin;
    CHECK(nanoseconds > 0);
    CHECK(nanoseconds < static_cast<uint64_t>(passed.count()));
    return nanoseconds;
  };
  uint64_t least = UINT64_MAX;  // of the fill alone, on a machine that may be busy
  for (int i = 0; i < 5; ++i) least = std::min(least, timed(1));
  CHECK(timed(static_cast<uint32_t>(commands.size())) > least);
  CHECK(adder.element(adder.a, 5) == 200 * 7);
  adder.device.run({&commands[1], 1});  // a recorder that timed does so no more
  CHECK(adder.element(adder.b, 5) == 200 * 7 + 3);

  uint64_t nanoseconds = 0;
  const Timeline timeline(adder.device.get(), 0);
  const tn_point point = timeline.at(1);
  tn_submission signals = TN_INIT(tn_submission);
  signals.signal_count = 1;
  signals.signals = &point;
  CHECK(timing->run(adder.device.get(), &signals, &nanoseconds, &error) ==
        TN_ERROR_INVALID_ARGUMENT);
  CHECK(timing->run(nullptr, &signals, &nanoseconds, &error) == TN_ERROR_INVALID_ARGUMENT);
  CHECK(timing->run(adder.device.get(), nullptr, &nanoseconds, &error) ==
        TN_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("submissions wait for values that the host and other submissions raise") {
  const Adder adder;
  const Timeline host(adder.device.get(), 5), device(adder.device.get(), 0);
  adder.a.write(0, std::vector<uint8_t>(kBytes, 0));
  const tn_point waits[] = {host.at(6)}, first[] = {device.at(10)},
                 second[] = {device.at(UINT64_MAX)};
  const auto there = adder.arguments(adder.a, adder.b, 1),
             back = adder.arguments(adder.b, adder.a, 1);
  const tn_command one = launch(adder.executable, kGrid, kQueueThreads, there);
  const tn_command two = launch(adder.executable, kGrid, kQueueThreads, back);
  REQUIRE(adder.device.submit({&one, 1}, waits, first) == TN_OK);
  REQUIRE(adder.device.submit({&two, 1}, first, second) == TN_OK);
  CHECK(device.wait(1, 20 * kMillisecond) == TN_ERROR_TIMEOUT);
  uint64_t value = 99;
  CHECK(device.query(value) == TN_OK);
  CHECK(value == 0);
  std::thread raises([&] { host.signal(7); });
  CHECK(device.wait(UINT64_MAX) == TN_OK);
  raises.join();
  CHECK(device.query(value) == TN_OK);
  CHECK(value == UINT64_MAX);
  CHECK(adder.element(adder.a, 17) == 2);
  CHECK(host.query(value) == TN_OK);
  CHECK(value == 7);
}

TEST_CASE("a lower value changes nothing") {
  const Timeline timeline(shared_device().get(), 0);
  CHECK(timeline.signal(4) == TN_OK);
  CHECK(timeline.signal(2) == TN_OK);
  const tn_point lower = timeline.at(3), higher = timeline.at(9);
  CHECK(shared_device().submit({}, {}, {&lower, 1}) == TN_OK);
  CHECK(shared_device().submit({}, {}, {&higher, 1}) == TN_OK);
  CHECK(timeline.wait(9) == TN_OK);
  uint64_t value = 0;
  CHECK(timeline.query(value) == TN_OK);
  CHECK(value == 9);
}

TEST_CASE("what waits starts in order, whoever raises what it waits for") {
  const Device& device = shared_device();
  const Timeline gate(device.get(), 0), done(device.get(), 0);
  const tn_point opened = gate.at(1);
  std::vector<tn_point> signals;
  for (uint64_t i = 1; i <= 20; ++i) signals.push_back(done.at(i));
  for (const tn_point& signal : signals)
    REQUIRE(device.submit({}, {&opened, 1}, {&signal, 1}) == TN_OK);
  CHECK(done.wait(1, kMillisecond) == TN_ERROR_TIMEOUT);
  CHECK(gate.signal(1) == TN_OK);
  CHECK(done.wait(20) == TN_OK);
}

TEST_CASE("a launch that does not fit is refused and nothing of its submission runs") {
  const Adder adder;
  adder.a.write(0, std::vector<uint8_t>(kBytes, 1));
  const auto good = adder.arguments(adder.a, adder.b, 1);
  const auto refuses = [&](tn_command command) {
    const tn_command commands[] = {fill(adder.a, 0, kBytes, 7, 1), command};
    std::string message;
    const int32_t status = adder.device.submit(commands, {}, {}, &message);
    INFO(message);
    CHECK(status == TN_ERROR_INVALID_ARGUMENT);
    CHECK(!message.empty());
  };
  tn_command command = launch(adder.executable, kGrid, kQueueThreads, good);
  command.block[0] = 32;
  refuses(command);
  command = launch(adder.executable, kGrid, kQueueThreads, good);
  command.argument_count = 2;
  refuses(command);
  command = launch(adder.executable, UINT32_MAX, kQueueThreads, good);
  refuses(command);
  auto arguments = good;
  arguments[0].offset = kBytes;
  refuses(launch(adder.executable, kGrid, kQueueThreads, arguments));
  arguments = good;
  arguments[1].offset = 4;
  arguments[1].size -= 4;
  refuses(launch(adder.executable, kGrid, kQueueThreads, arguments));
  arguments = good;
  std::swap(arguments[0], arguments[2]);
  refuses(launch(adder.executable, kGrid, kQueueThreads, arguments));
  refuses(copy(adder.a, 0, adder.b, 8, kBytes));
  refuses(fill(adder.a, kBytes, 1, 0, 1));
  adder.device.run({});
  CHECK(adder.a.read(0, 1)[0] == 1);
}

TEST_CASE("a grid with a zero runs nothing, and an empty buffer needs no memory") {
  const Adder adder;
  adder.b.write(0, std::vector<uint8_t>(kBytes, 1));
  auto arguments = adder.arguments(adder.a, adder.b, 1);
  const tn_command none = launch(adder.executable, 0, kQueueThreads, arguments);
  adder.device.run({&none, 1});
  CHECK(adder.b.read(0, kBytes) == std::vector<uint8_t>(kBytes, 1));
  tn_executable* empty = adder.device.compile(add_program(0, kQueueThreads));
  const tn_argument nothing = {TN_ARGUMENT_BUFFER, 0, nullptr, 0, 0, 0};
  arguments[0] = arguments[1] = nothing;
  const tn_command command = launch(empty, 1, kQueueThreads, arguments);
  CHECK_NOTHROW(adder.device.run({&command, 1}));
  plugin().executable_destroy(empty);
}

TEST_CASE("many threads submit at once") {
  const Adder adder;
  constexpr int kThreadCount = 4, kRounds = 50;
  std::vector<std::thread> threads;
  std::vector<int> wrong(kThreadCount);
  for (int t = 0; t < kThreadCount; ++t) {
    threads.emplace_back([&, t] {
      const Memory in(adder.device.get(), kBytes), out(adder.device.get(), kBytes);
      in.write(0, std::vector<uint8_t>(kBytes, 0));
      const auto arguments = adder.arguments(in, out, static_cast<uint32_t>(t + 5));
      const tn_command command = launch(adder.executable, kGrid, kQueueThreads, arguments);
      for (int round = 0; round < kRounds; ++round) {
        adder.device.run({&command, 1});
        wrong[t] += adder.element(out, kQueueCount - 1) != t + 5;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(kThreadCount));
}

}  // namespace tenon::vulkan_test
