// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The template backend through its C table: results, refusals, saved executables.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <cmath>
#include <numeric>

#include "tests/sdk/null_device.hpp"
#include "tests/sdk/samples.hpp"

using namespace tenon::sdk;

TEST_CASE("softmax over rows") {
  NullDevice host;
  const std::vector<float> x = {1, 2, 3, -1, 0, 100};
  Bytes in = bytes_of(x), out(in.size());
  host.run(parsed(samples::kSoftmax), {2, 1, 1}, std::vector<TestArgument>{{&in}, {&out}, {{}, 3}});
  const auto y = values_of<float>(out);
  for (int row = 0; row < 2; ++row) {
    const float* r = &x[row * 3];
    const double sum = std::exp(r[0] - r[2]) + std::exp(r[1] - r[2]) + 1;
    for (int i = 0; i < 3; ++i) {
      CHECK(y[row * 3 + i] == Catch::Approx(std::exp(r[i] - r[2]) / sum).margin(1e-12));
    }
  }
}

TEST_CASE("vectors: gather, masks, fill, reduction, compose") {
  NullDevice host;
  std::vector<float> x(64);
  std::iota(x.begin(), x.end(), 0.f);
  Bytes in = bytes_of(x), out = bytes_of(std::vector<float>(16, 7));
  Bytes index = bytes_of(std::vector<int>{63, 1, 20, 3, 9, 1000, -1, 99});
  host.run(parsed(samples::kVectors), {1, 1, 1},
           std::vector<TestArgument>{{&in}, {&index}, {&out}});
  // Lanes 0 to 4 gather and add; the others keep their fill and are not stored.
  const float sum = 63 + 2 + 22 + 6 + 13 - 3 * 2.5f;
  const std::vector<float> expected = {63,  2,     22, 6, 13,  7,   7,   7,
                                       sum, -2.5f, 7,  7, sum, sum, sum, sum};
  CHECK(values_of<float>(out) == expected);
}

TEST_CASE("loops that carry and end early, if and else") {
  NullDevice host;
  Bytes in = bytes_of(std::vector<int64_t>{10});
  for (const int64_t n : {0, 3, 50}) {
    std::vector<int64_t> expected(64, -7);
    int64_t a = 10, b = 0;
    for (int64_t i = 0; i < n; ++i) {
      expected[i] = a % 3 ? a % 3 : a / 3;
      b += a++;
      if (b >= 100) break;
    }
    expected[n] = a;
    expected[n + 1] = b;
    Bytes out = bytes_of(std::vector<int64_t>(64, -7));
    host.run(parsed(samples::kControl), {1, 1, 1},
             std::vector<TestArgument>{{&in}, {&out}, {{}, static_cast<uint64_t>(n)}});
    CHECK(values_of<int64_t>(out) == expected);
  }
}

TEST_CASE("threads of a workgroup meet at a barrier") {
  NullDevice host;
  std::string text(samples::kShared);
  text.replace(text.find(" subgroup 8"), 11, "");
  Bytes in = bytes_of(std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 250});
  Bytes out(8);
  host.run(parsed(text), {1, 1, 1}, std::vector<TestArgument>{{&in}, {&out}, {{}, 1}});
  CHECK(values_of<uint8_t>(out) == std::vector<uint8_t>{250, 7, 6, 5, 4, 3, 2, 1});
}

TEST_CASE("bit casts keep the bits") {
  NullDevice host;
  const Program program =
      parsed(R"(program p(%x: global f32 read, %y: global i32 write) workgroup 1 1 1 {
  %i = index grid.x : i32
  %v = load %x, %i : f32
  %b = cast.bits %v : i32
  store %y, %i, %b
}
)");
  Bytes in = bytes_of(std::vector<float>{1.5f, -0.0f, 3e38f}), out(12);
  host.run(program, {3, 1, 1}, std::vector<TestArgument>{{&in}, {&out}});
  CHECK(in == out);
}

TEST_CASE("each thread leaves a loop on its own") {
  NullDevice host;
  Bytes out(8 * 4);
  host.run(parsed(R"(program p(%y: global i32 write) workgroup 8 1 1 {
  %t = index block.x : i32
  %0 = const 0 : i32
  %1 = const 1 : i32
  %3 = const 3 : i32
  %i = loop %0, %t, %1 while : i32 {
    %sum = carry %0 : i32
    %next = add %sum, %3 : i32
    %go = cmplt %i, %3 : bool
    end %next, %go
  }
  store %y, %t, %sum
}
)"),
           {1, 1, 1}, std::vector<TestArgument>{{&out}});
  CHECK(values_of<int>(out) == std::vector<int>{0, 3, 6, 9, 12, 12, 12, 12});
}

TEST_CASE("what it does not claim it refuses, with the reason") {
  NullDevice host;
  const tn_target target = host.target();
  char reason[256] = {};
  const Program atomic = parsed(samples::kAtomic);
  CHECK(host.plugin().supports(&target, atomic.get(), sizeof reason, reason) == TN_SUPPORT_NO);
  CHECK(std::string(reason) == "op 6 index: expected subgroups to be claimed");
  tn_executable* executable = nullptr;
  tn_error error = TN_INIT(tn_error);
  CHECK(host.plugin().compile(&target, atomic.get(), nullptr, &executable, &error) ==
        TN_ERROR_UNSUPPORTED);
  CHECK(executable == nullptr);
  CHECK(host.plugin().device_open(1, nullptr, nullptr, &error) == TN_ERROR_INVALID_ARGUMENT);
  tn_device* device = nullptr;
  CHECK(host.plugin().device_open(1, nullptr, &device, &error) == TN_ERROR_NOT_FOUND);
  CHECK(host.plugin().device_open(0, "speed=9", &device, &error) == TN_ERROR_INVALID_ARGUMENT);
  CHECK(std::string(error.message) == "option speed: expected a key that the backend knows");
}

TEST_CASE("launches that do not fit their program are refused") {
  NullDevice host;
  const Program program = parsed(samples::kVectors);
  Bytes in(64 * 4), index(8 * 4), small(15 * 4), wide(16 * 4);
  using Arguments = std::vector<TestArgument>;
  CHECK_THROWS_WITH(host.run(program, {1, 1, 1}, Arguments{{&in}, {&index}, {&small}}),
                    "launch: expected 64 bytes as argument 2, got 60");
  CHECK_THROWS_WITH(host.run(program, {1, 1, 1}, Arguments{{&in}, {&index}}),
                    "launch: expected 3 arguments, got 2");
  CHECK_THROWS_WITH(host.run(program, {1, 1, 1}, Arguments{{&in}, {{}, 5}, {&wide}}),
                    "launch: expected a buffer as argument 1, got kind 2");
  index = bytes_of(std::vector<int>{64, 0, 0, 0, 0, 0, 0, 0});
  CHECK_THROWS_WITH(host.run(program, {1, 1, 1}, Arguments{{&in}, {&index}, {&wide}}),
                    "op 10: index outside memory");
}

TEST_CASE("executables are saved and loaded, and damage is noticed wherever it is") {
  NullDevice host;
  const std::string saved = host.save(host.compile(parsed(samples::kControl)));
  Bytes in = bytes_of(std::vector<int64_t>{1}), out(8 * 8);
  host.run(host.load(saved), {}, {}, std::vector<TestArgument>{{&in}, {&out}, {{}, 2}});
  CHECK(values_of<int64_t>(out)[3] == 3);
  const auto is_refused = [&](const std::string& bytes) {
    return tenon::plugin_test::status_of([&] { host.load(bytes); }) == TN_ERROR_INCOMPATIBLE;
  };
  for (size_t at = 0; at < saved.size(); at += at < 64 ? 1 : 13) {
    std::string damaged = saved;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    CAPTURE(at);
    REQUIRE(is_refused(damaged));
    REQUIRE(is_refused(saved.substr(0, at)));
  }
  CHECK(is_refused(saved.substr(0, saved.size() - 1)));
  CHECK(is_refused(saved + "x"));
}

TEST_CASE("a slab above the space's largest is refused before the backend is asked") {
  NullDevice host;
  const uint64_t largest = host.properties().memory_spaces[0].largest;
  CHECK(tenon::plugin_test::status_of([&] { tenon::plugin_test::Memory(host, largest + 1); }) ==
        TN_ERROR_OUT_OF_MEMORY);
}
