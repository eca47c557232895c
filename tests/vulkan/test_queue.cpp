// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times, and launches that do not fit. Order, timelines and threads are tried by the checks of the
// conformance tool.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>

#include "tenon/ext/timing.h"
#include "tests/vulkan/harness.hpp"

namespace tenon::vulkan_test {
namespace {

constexpr uint32_t kQueueCount = 1000, kQueueThreads = 64,
                   kGrid = (kQueueCount + kQueueThreads - 1) / kQueueThreads;
constexpr uint64_t kBytes = kQueueCount * 4;

/// An executable, and buffers that it adds in.
struct Adder {
  const Device& device = shared_device();
  Executable executable = device.compile(add_program(kQueueCount, kQueueThreads));
  Memory a{device, kBytes}, b{device, kBytes};

  std::vector<tn_argument> arguments(const Memory& in, const Memory& out, uint32_t add) const {
    return {sdk::buffer_argument(in, 0, kBytes), sdk::buffer_argument(out, 0, kBytes),
            sdk::scalar_argument(add)};
  }
  int32_t element(const Memory& memory, uint32_t i) const {
    return values_of<int32_t>(memory.read(uint64_t{i} * 4, 4))[0];
  }
  tn_command launch(uint32_t groups, std::span<const tn_argument> arguments) const {
    return sdk::launch_command(executable, {groups}, {kQueueThreads}, arguments);
  }
};

}  // namespace

TEST_CASE("commands are timed by the device's clock") {
  const auto* timing = static_cast<const tn_timing*>(plugin().get_extension(TN_TIMING_ID));
  REQUIRE(timing);
  CHECK(timing->struct_size == sizeof(tn_timing));
  const Adder adder;
  const auto there = adder.arguments(adder.a, adder.b, 3),
             back = adder.arguments(adder.b, adder.a, 4);
  std::vector<tn_command> commands = {sdk::fill_command(adder.a, 0, kBytes, 0, 4)};
  for (int i = 0; i < 200; ++i) {
    commands.push_back(adder.launch(kGrid, there));
    commands.push_back(adder.launch(kGrid, back));
  }
  tn_error error = TN_INIT(tn_error);
  const auto timed = [&](uint32_t count) {
    const tn_submission submission = sdk::submission_of(std::span(commands).first(count));
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
  adder.device.run({commands[1]});  // a recorder that timed does so no more
  CHECK(adder.element(adder.b, 5) == 200 * 7 + 3);

  uint64_t nanoseconds = 0;
  const Timeline timeline(adder.device);
  const tn_point point = timeline.at(1);
  const tn_submission signals = sdk::submission_of({}, {}, {&point, 1});
  CHECK(timing->run(adder.device.get(), &signals, &nanoseconds, &error) ==
        TN_ERROR_INVALID_ARGUMENT);
  CHECK(timing->run(nullptr, &signals, &nanoseconds, &error) == TN_ERROR_INVALID_ARGUMENT);
  CHECK(timing->run(adder.device.get(), nullptr, &nanoseconds, &error) ==
        TN_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("a launch that does not fit is refused and nothing of its submission runs") {
  const Adder adder;
  adder.a.write(0, Bytes(kBytes, 1));
  const auto good = adder.arguments(adder.a, adder.b, 1);
  const auto refuses = [&](tn_command command) {
    const tn_command commands[] = {sdk::fill_command(adder.a, 0, kBytes, 7, 1), command};
    std::string message;
    const int32_t status = adder.device.submit(commands, {}, {}, &message);
    INFO(message);
    CHECK(status == TN_ERROR_INVALID_ARGUMENT);
    CHECK(!message.empty());
  };
  tn_command command = adder.launch(kGrid, good);
  command.block[0] = 32;
  refuses(command);
  command = adder.launch(kGrid, good);
  command.argument_count = 2;
  refuses(command);
  command = adder.launch(UINT32_MAX, good);
  refuses(command);
  auto arguments = good;
  arguments[0].offset = kBytes;
  refuses(adder.launch(kGrid, arguments));
  arguments = good;
  arguments[1].offset = 4;
  arguments[1].size -= 4;
  refuses(adder.launch(kGrid, arguments));
  arguments = good;
  std::swap(arguments[0], arguments[2]);
  refuses(adder.launch(kGrid, arguments));
  refuses(sdk::copy_command(adder.a, 0, adder.b, 8, kBytes));
  refuses(sdk::fill_command(adder.a, kBytes, 1, 0, 1));
  adder.device.run({});
  CHECK(adder.a.read(0, 1)[0] == 1);
}

TEST_CASE("a grid with a zero runs nothing, and an empty buffer needs no memory") {
  const Adder adder;
  adder.b.write(0, Bytes(kBytes, 1));
  auto arguments = adder.arguments(adder.a, adder.b, 1);
  adder.device.run({adder.launch(0, arguments)});
  CHECK(adder.b.read() == Bytes(kBytes, 1));
  const Executable empty = adder.device.compile(add_program(0, kQueueThreads));
  arguments[0] = arguments[1] = sdk::buffer_argument(nullptr, 0, 0);
  CHECK_NOTHROW(adder.device.run({sdk::launch_command(empty, {1}, {kQueueThreads}, arguments)}));
}

}  // namespace tenon::vulkan_test
