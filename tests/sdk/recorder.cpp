// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a recorder refuses, where it sets barriers, and fills at any byte.
#include "sdk/shader/recorder.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "tests/sdk/null_device.hpp"
#include "tests/sdk/recorded.hpp"

namespace tenon::sdk {
namespace {

using Log = std::vector<std::string>;

struct IdleDevice : Device {
  const tn_properties& properties() const override { return table->get(); }
  std::unique_ptr<Memory> allocate(uint32_t, uint64_t) override { return nullptr; }
  void submit(const Submission&) override {}
  const std::unique_ptr<PropertyTable> table = recorded_properties();
};

constexpr const char* kCopies =
    R"(program copies(%x: global f32 read, %y: global f32 write, %n: i32 in [0, 4]) workgroup 4 1 1 {
  %i = index block.x : i32
  %v = load %x, %i : f32
  store %y, %i, %v
}
)";

/// A launch of kCopies from `x` to `y`.
struct Launching {
  explicit Launching(Memory& x, Memory& y, const ShaderExecutable& executable) {
    arguments[0] = {TN_ARGUMENT_BUFFER, 0, handle_of(x), 0, 16, 0};
    arguments[1] = {TN_ARGUMENT_BUFFER, 0, handle_of(y), 0, 16, 0};
    arguments[2] = {TN_ARGUMENT_SCALAR, 0, nullptr, 0, 0, 3};
    code = const_cast<ShaderExecutable*>(&executable);
  }
  tn_command command() const { return launch_command(handle_of(*code), {grid}, {4}, arguments); }
  ShaderExecutable* code;
  uint32_t grid = 1;
  tn_argument arguments[3];
};

struct Bench {
  void record(std::initializer_list<tn_command> commands) {
    const tn_submission from = submission_of({commands.begin(), commands.size()});
    recorder.record(Submission(&from));
  }
  int32_t refusal(const tn_command& command) {
    return guarded(nullptr, [&] { record({command}); });
  }
  IdleDevice device;
  LoggingRecorder recorder{device};
  HostMemory a{4096, 64}, b{4096, 64}, c{4096, 64};
  ShaderExecutable code{parsed(kCopies), &device};
};

}  // namespace

TEST_CASE("fills of each pattern at every byte, in words where the pattern is one") {
  Bench bench;
  constexpr uint64_t kPattern = 0x8877665544332211;
  for (const uint32_t width : {1u, 2u, 4u, 8u}) {
    for (uint64_t offset = 0; offset < 9; ++offset) {
      for (const uint64_t count : {0u, 1u, 2u, 3u, 5u, 33u, 200u}) {
        std::fill_n(bench.a.data(), 4096, std::byte{0xEE});
        std::vector<std::byte> expected(4096, std::byte{0xEE});
        for (uint64_t i = 0; i < count * width; ++i)
          expected[offset + i] = static_cast<std::byte>(kPattern >> (i % width * 8));
        bench.record({fill_command(bench.a, offset, count * width, kPattern, width)});
        CAPTURE(width, offset, count, bench.recorder.log);
        REQUIRE(std::equal(expected.begin(), expected.end(), bench.a.data()));
        REQUIRE(std::ranges::count(bench.recorder.log, "fill of no words") == 0);
        REQUIRE(std::ranges::count(bench.recorder.log, "write too much") == 0);
      }
    }
  }
  bench.record({fill_command(bench.a, 5, 1002, 7, 1)});
  CHECK(bench.recorder.log == Log{"begin 0 0", "write", "fill", "write", "end"});
  bench.record({fill_command(bench.a, 8, 1000, 7, 8)});
  CHECK(bench.recorder.log ==
        Log{"begin 0 0", "write", "barrier", "copy", "barrier", "copy", "end"});
}

TEST_CASE("barriers stand between commands that touch the same bytes, and nowhere else") {
  Bench bench;
  const Launching there(bench.a, bench.b, bench.code), on(bench.b, bench.c, bench.code);
  bench.record({there.command(), there.command(), on.command(),
                copy_command(bench.a, 64, bench.c, 64, 8),
                copy_command(bench.a, 0, bench.c, 0, 4)});
  CHECK(bench.recorder.log == Log{"begin 3 9", "dispatch bytes bytes", "barrier",
                                  "dispatch bytes bytes", "barrier", "dispatch bytes bytes", "copy",
                                  "barrier", "copy", "end"});
  bench.record({on.command()});  // another recording: what was before is over
  CHECK(bench.recorder.log == Log{"begin 1 3", "dispatch bytes bytes", "end"});
}

TEST_CASE("a launch brings its scalars, may have a grid of nothing, and buffers of nothing") {
  Bench bench;
  Launching launch(bench.a, bench.b, bench.code);
  bench.record({launch.command()});
  REQUIRE(bench.recorder.scalars.size() == 16);
  CHECK(bench.recorder.scalars[0] == std::byte{3});
  launch.grid = 0;
  bench.record({launch.command()});
  CHECK(bench.recorder.log == Log{"begin 1 3", "end"});
  Launching idle(bench.a, bench.b, bench.code);
  for (int i : {0, 1}) idle.arguments[i] = {TN_ARGUMENT_BUFFER, 0, nullptr, 0, 0, 0};
  bench.record({idle.command()});
  CHECK(bench.recorder.log == Log{"begin 1 3", "dispatch none none", "end"});
}

TEST_CASE("what does not fit is refused") {
  Bench bench;
  const Launching good(bench.a, bench.b, bench.code);
  CHECK(bench.refusal(good.command()) == TN_OK);
  Launching bad = good;
  bad.grid = 9;
  CHECK(bench.refusal(bad.command()) == TN_ERROR_INVALID_ARGUMENT);
  bad = good;
  bad.arguments[0].offset = 8;  // not where a binding may begin
  CHECK(bench.refusal(bad.command()) == TN_ERROR_INVALID_ARGUMENT);
  bad = good;
  bad.arguments[1].size = 65;  // more than a binding may have
  CHECK(bench.refusal(bad.command()) == TN_ERROR_INVALID_ARGUMENT);
  bad = good;
  bad.arguments[1].offset = 4096;
  CHECK(bench.refusal(bad.command()) == TN_ERROR_INVALID_ARGUMENT);
  const IdleDevice other;
  const ShaderExecutable foreign(parsed(kCopies), &other), of_none(parsed(kCopies), nullptr);
  CHECK(bench.refusal(Launching(bench.a, bench.b, foreign).command()) == TN_ERROR_INVALID_ARGUMENT);
  CHECK(bench.refusal(Launching(bench.a, bench.b, of_none).command()) == TN_ERROR_INVALID_ARGUMENT);
  CHECK(bench.refusal(fill_command(bench.a, 4090, 8, 0, 8)) == TN_ERROR_INVALID_ARGUMENT);
  CHECK(bench.refusal(copy_command(bench.a, 0, bench.b, 4090, 8)) == TN_ERROR_INVALID_ARGUMENT);
}

}  // namespace tenon::sdk
