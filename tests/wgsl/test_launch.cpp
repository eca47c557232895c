// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs launched, timed and shown; and what is refused. The checks of the conformance tool try
// saved executables and the order of commands.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <thread>

#include "tenon/ext/timing.h"
#include "tests/wgsl/harness.hpp"

using namespace tenon;
using namespace tenon::wgsl_test;

namespace {

const Bytes kIn = floats({1, 2, 3, 4}), kExpected = floats({5, 7, 9, 4});

}  // namespace

TEST_CASE("a launch reads its buffers and scalars and writes no further") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device(plugin());
  const sdk::Program program = scaled_program();
  Bytes x = kIn, y = kIn;
  device.run(program, {}, {{&x}, {&y}, {{}, 3}, {{}, 3}});
  CHECK(x == kIn);
  CHECK(y == kExpected);
  device.run(program, {0}, {{&x}, {&y}, {{}, 100}, {{}, 4}});  // an empty grid runs nothing
  CHECK(y == kExpected);
  Bytes nothing, none;
  CHECK_NOTHROW(device.run(program, {}, {{&nothing}, {&none}, {{}, 3}, {{}, 0}}));
}

TEST_CASE("what a launch must not bring is refused, and the device goes on") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device(plugin()), other(plugin());
  const sdk::Program program = scaled_program();
  const Executable code = device.compile(program), foreign = other.compile(program);
  const Memory memory(device, 256), host(device, 256, 1);
  const std::vector<tn_argument> good = {sdk::buffer_argument(memory, 0, 16),
                                         sdk::buffer_argument(memory, 128, 16),
                                         sdk::scalar_argument(0), sdk::scalar_argument(4)};
  const auto refused = [&](tn_executable* executable, std::span<const tn_argument> arguments,
                           uint32_t groups = 1) {
    const tn_command command = sdk::launch_command(executable, {groups}, {64}, arguments);
    return device.submit({&command, 1}) == TN_ERROR_INVALID_ARGUMENT;
  };
  auto bad = good;
  bad[0].memory = host;
  CHECK(refused(code, bad));
  bad[0] = sdk::buffer_argument(memory, 4, 16);  // not where a binding may begin
  CHECK(refused(code, bad));
  bad[0] = sdk::buffer_argument(memory, 248, 16);
  CHECK(refused(code, bad));
  CHECK(refused(code, std::span(good).first(3)));
  CHECK(refused(foreign, good));
  CHECK(refused(code, good, 1u << 20));  // more than a grid holds
  CHECK_NOTHROW(device.run({sdk::launch_command(code, {1}, {64}, good)}));
}

TEST_CASE("threads compile while another launches") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device(plugin());
  const sdk::Program program = scaled_program();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 8; ++i) device.compile(program);
    });
  }
  const Executable code = device.compile(program);
  for (int i = 0; i < 20; ++i) {
    Bytes x = kIn, y = kIn;
    const Argument arguments[] = {{&x}, {&y}, {{}, 3}, {{}, 3}};
    device.run(code, {}, {64}, arguments);
    CHECK(y == kExpected);
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("commands are timed by the device's clock") {
  if (!no_device().empty()) SKIP(no_device());
  const auto* timing = static_cast<const tn_timing*>(plugin().get_extension(TN_TIMING_ID));
  REQUIRE(timing);
  const Device device(plugin());
  const sdk::Program program = scaled_program();
  const Executable code = device.compile(program);
  const Memory slab(device, 512);
  slab.write(0, kIn);
  const tn_argument arguments[] = {sdk::buffer_argument(slab, 0, 16),
                                   sdk::buffer_argument(slab, 256, 16), sdk::scalar_argument(3),
                                   sdk::scalar_argument(4)};
  const std::vector<tn_command> commands(100, sdk::launch_command(code, {1}, {64}, arguments));
  tn_error error = TN_INIT(tn_error);
  const auto timed = [&](uint32_t count) {
    const tn_submission submission = sdk::submission_of(std::span(commands).first(count));
    uint64_t nanoseconds = 0;
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(timing->run(device.get(), &submission, &nanoseconds, &error) == TN_OK);
    const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - begin;
    CHECK(nanoseconds < static_cast<uint64_t>(passed.count()));
    return nanoseconds;
  };
  uint64_t least = UINT64_MAX;  // of one launch, on a machine that may be busy
  for (int i = 0; i < 5; ++i) least = std::min(least, timed(1));
  CHECK(least > 0);
  CHECK(timed(100) > least);
  CHECK(slab.read(256, 16) == floats({5, 7, 9, 11}));
}

TEST_CASE("threads of a subgroup exchange values") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device(plugin());
  const tn_properties& p = device.properties();
  if (p.subgroup_max == 0) SKIP("the device's subgroups have no size that is known");
  const uint32_t size = p.subgroup_max;
  CHECK(p.subgroup_min == size);
  constexpr uint32_t kThreads = 64;
  const sdk::Program program = parsed(fmt::format(
      R"(program groups(%x: global f32 read, %y: global f32 write, %z: global i32 write) workgroup {0} 1 1 subgroup {1} {{
  %3 = index block.x : i32
  %4 = index subgroup_lane : i32
  %5 = load %x, %3 : f32
  %6 = const 1 : i32
  %7 = xor %4, %6 : i32
  %8 = subgroup_shuffle %5, %7 : f32
  %9 = subgroup_reduce.max %5 : f32
  %10 = subgroup_broadcast %5, {2} : f32
  %11 = add %8, %9 : f32
  %12 = add %11, %10 : f32
  store %y, %3, %12
  %14 = cmplt %5, %9 : bool
  %15 = subgroup_shuffle %14, %7 : bool
  %16 = cast %15 : i32
  %17 = subgroup_reduce.add %16 : i32
  %18 = index subgroup : i32
  %19 = const 100 : i32
  %20 = mul %18, %19 : i32
  %21 = add %17, %20 : i32
  store %z, %3, %21
}}
)",
      kThreads, size, size - 1));
  std::vector<float> in(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) in[i] = static_cast<float>(i * 37 % 101);
  Bytes x = bytes_of(in), y = x, z = x;
  device.run(program, {}, {{&x}, {&y}, {&z}});
  const auto out = values_of<float>(y);
  const auto counts = values_of<int32_t>(z);
  for (uint32_t i = 0; i < kThreads; ++i) {
    const auto first = in.begin() + i / size * size;
    const float most = *std::max_element(first, first + size);
    CHECK(out[i] == in[i ^ 1] + most + first[size - 1]);
    CHECK(counts[i] == static_cast<int32_t>(i / size * 100 + size - 1));
  }
}

TEST_CASE("the target wgsl needs no device, and shows its text") {
  tn_target target = named_target("wgsl");
  tn_error error = TN_INIT(tn_error);
  const tn_properties* properties = nullptr;
  REQUIRE(plugin().properties(&target, &properties, &error) == TN_OK);
  CHECK(properties->max_bindings == 8);
  CHECK(properties->storage_bytes == 4);
  tn_executable* made = nullptr;
  tn_compile_report report = TN_INIT(tn_compile_report);
  REQUIRE(plugin().compile(&target, scaled_program().get(), &report, &made, &error) == TN_OK);
  const Executable code(made, plugin().executable_destroy);
  std::string text;
  REQUIRE(plugin().executable_text(made, TN_TEXT_SOURCE, append_text, &text, &error) == TN_OK);
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("@compute @workgroup_size(64, 1, 1)"));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("kernel_scaled"));
  CHECK(report.binary_bytes == text.size());
  CHECK(plugin().executable_text(made, TN_TEXT_ASSEMBLY, append_text, &text, &error) ==
        TN_ERROR_UNSUPPORTED);
  target.name = "msl";
  CHECK(plugin().properties(&target, &properties, &error) == TN_ERROR_NOT_FOUND);
}
