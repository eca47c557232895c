// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs compiled, launched, saved, loaded, shown; and what is refused.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstring>
#include <thread>

#include "sdk/program/text.hpp"
#include "tenon/ext/timing.h"
#include "tests/wgsl/harness.hpp"

using namespace tenon;
using namespace tenon::wgsl_test;

namespace {

int32_t code_of(const auto& body) {
  try {
    body();
    return TN_OK;
  } catch (const Failed& failed) {
    return failed.code;
  }
}

const Bytes kIn = floats({1, 2, 3, 4}), kExpected = floats({5, 7, 9, 4});

}  // namespace

TEST_CASE("a launch reads its buffers and scalars and writes no further") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device;
  const sdk::Program program = scaled_program();
  const Executable code = device.compile(program);
  Bytes x = kIn, y = kIn;
  device.run(code, program, 1, {&x, &y}, {3, 3});
  CHECK(x == kIn);
  CHECK(y == kExpected);
  device.run(code, program, 0, {&x, &y}, {100, 4});  // an empty grid runs nothing
  CHECK(y == kExpected);
  Bytes nothing, none;
  CHECK_NOTHROW(device.run(code, program, 1, {&nothing, &none}, {3, 0}));
}

TEST_CASE("launches of one submission see each other's results and have their own scalars") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device;
  const sdk::Program program = scaled_program();
  const Executable code = device.compile(program);
  const uint64_t half = 256;  // two buffers cut from one slab
  const Memory slab = device.allocate(0, 2 * half);
  device.write(slab.get(), 0, kIn);
  const auto launch = [&](uint64_t from, uint64_t to, uint64_t n) {
    std::vector<tn_argument> arguments = {
        buffer_argument(slab.get(), from, 16), buffer_argument(slab.get(), to, 16), {}, {}};
    arguments[2].kind = arguments[3].kind = TN_ARGUMENT_SCALAR;
    arguments[2].scalar = n;
    arguments[3].scalar = 4;
    return arguments;
  };
  const auto there = launch(0, half, 1), back = launch(half, 0, 100);
  device.submit(std::vector{launch_command(code.get(), program, 1, there),
                            launch_command(code.get(), program, 1, back)});
  CHECK(device.read(slab.get(), 0, 16) == floats({106, 110, 114, 118}));
}

TEST_CASE("executables are saved and loaded; other bytes are not") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device;
  const sdk::Program program = scaled_program();
  const Bytes saved = device.save(device.compile(program));
  Bytes x = kIn, y = kIn;
  device.run(device.load(saved), program, 1, {&x, &y}, {3, 3});
  CHECK(y == kExpected);
  for (size_t at = 0; at < saved.size(); at += 13) {
    Bytes damaged = saved;
    damaged[at] ^= std::byte{0x10};
    CAPTURE(at);
    CHECK(code_of([&] { device.load(damaged); }) == TN_ERROR_INCOMPATIBLE);
    CHECK(code_of([&] { device.load(std::span(saved).first(at)); }) == TN_ERROR_INCOMPATIBLE);
  }
}

TEST_CASE("what a launch must not bring is refused, and the device goes on") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device, other;
  const sdk::Program program = scaled_program();
  const Executable code = device.compile(program), foreign = other.compile(program);
  const Memory memory = device.allocate(0, 256), host = device.allocate(1, 256);
  std::vector<tn_argument> good = {
      buffer_argument(memory.get(), 0, 16), buffer_argument(memory.get(), 128, 16), {}, {}};
  good[2].kind = good[3].kind = TN_ARGUMENT_SCALAR;
  good[3].scalar = 4;
  const auto refused = [&](const tn_command& command) {
    return code_of([&] { device.submit(std::span(&command, 1)); }) == TN_ERROR_INVALID_ARGUMENT;
  };
  auto bad = good;
  bad[0].memory = host.get();
  CHECK(refused(launch_command(code.get(), program, 1, bad)));
  bad[0] = buffer_argument(memory.get(), 4, 16);  // not where a binding may begin
  CHECK(refused(launch_command(code.get(), program, 1, bad)));
  bad[0] = buffer_argument(memory.get(), 248, 16);
  CHECK(refused(launch_command(code.get(), program, 1, bad)));
  CHECK(refused(launch_command(code.get(), program, 1, std::span(good).first(3))));
  CHECK(refused(launch_command(foreign.get(), program, 1, good)));
  CHECK(refused(launch_command(code.get(), program, 1u << 20, good)));  // more than a grid holds
  const tn_command fine = launch_command(code.get(), program, 1, good);
  CHECK_NOTHROW(device.submit(std::span(&fine, 1)));
}

TEST_CASE("threads compile while another launches") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device;
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
    device.run(code, program, 1, {&x, &y}, {3, 3});
    CHECK(y == kExpected);
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("commands are timed by the device's clock") {
  if (!no_device().empty()) SKIP(no_device());
  const auto* timing = static_cast<const tn_timing*>(plugin().get_extension(TN_TIMING_ID));
  REQUIRE(timing);
  const Device device;
  const sdk::Program program = scaled_program();
  const Executable code = device.compile(program);
  const Memory slab = device.allocate(0, 512);
  device.write(slab.get(), 0, kIn);
  std::vector<tn_argument> arguments = {
      buffer_argument(slab.get(), 0, 16), buffer_argument(slab.get(), 256, 16), {}, {}};
  arguments[2].kind = arguments[3].kind = TN_ARGUMENT_SCALAR;
  arguments[2].scalar = 3;
  arguments[3].scalar = 4;
  const std::vector<tn_command> commands(100, launch_command(code.get(), program, 1, arguments));
  tn_error error = TN_INIT(tn_error);
  const auto timed = [&](uint32_t count) {
    tn_submission submission = TN_INIT(tn_submission);
    submission.command_count = count;
    submission.command_stride = sizeof(tn_command);
    submission.commands = commands.data();
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
  CHECK(device.read(slab.get(), 256, 16) == floats({5, 7, 9, 11}));
}

TEST_CASE("threads of a subgroup exchange values") {
  if (!no_device().empty()) SKIP(no_device());
  const Device device;
  const tn_properties& p = device.properties();
  if (p.subgroup_max == 0) SKIP("the device's subgroups have no size that is known");
  const uint32_t size = p.subgroup_max;
  CHECK(p.subgroup_min == size);
  constexpr uint32_t kThreads = 64;
  std::string error;
  const sdk::Program program = sdk::parse_program(
      fmt::format(
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
          kThreads, size, size - 1),
      error);
  REQUIRE(error == "");
  Bytes x(kThreads * 4), y = x, z = x;
  std::vector<float> in(kThreads), out(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) in[i] = static_cast<float>(i * 37 % 101);
  std::memcpy(x.data(), in.data(), x.size());
  device.run(device.compile(program), program, 1, {&x, &y, &z});
  std::memcpy(out.data(), y.data(), y.size());
  std::vector<int32_t> counts(kThreads);
  std::memcpy(counts.data(), z.data(), z.size());
  for (uint32_t i = 0; i < kThreads; ++i) {
    const auto first = in.begin() + i / size * size;
    const float most = *std::max_element(first, first + size);
    CHECK(out[i] == in[i ^ 1] + most + first[size - 1]);
    CHECK(counts[i] == static_cast<int32_t>(i / size * 100 + size - 1));
  }
}

TEST_CASE("the target wgsl needs no device, and shows its text") {
  tn_target target = TN_INIT(tn_target);
  target.name = "wgsl";
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
  const tn_sink sink = [](void* to, const void* from, size_t size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(from), size);
  };
  REQUIRE(plugin().executable_text(made, TN_TEXT_SOURCE, sink, &text, &error) == TN_OK);
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("@compute @workgroup_size(64, 1, 1)"));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("kernel_scaled"));
  CHECK(report.binary_bytes == text.size());
  CHECK(plugin().executable_text(made, TN_TEXT_ASSEMBLY, sink, &text, &error) ==
        TN_ERROR_UNSUPPORTED);
  target.name = "msl";
  CHECK(plugin().properties(&target, &properties, &error) == TN_ERROR_NOT_FOUND);
}
