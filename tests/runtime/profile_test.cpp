// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times of kernels that run alone, and their counts.
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "core/ir/text/text.hpp"
#include "core/runtime/kernel_work.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

constexpr const char* kLayer =
    R"(graph layer(%x: f32[n, 1, 32], %w: f32[1, 8, 32]) where 1 <= n <= 64 {
  %a = expand %x : f32[n, 8, 32]
  %b = expand %w : f32[n, 8, 32]
  %p = mul %a, %b
  %s = reduce.add %p, axes=[2]
  %r = neg %s
  return %r
})";

RuntimeOptions timed(const std::string& backend) {
  RuntimeOptions options = options_for(backend == "cpu" ? "cpu@threads=1" : backend, backend);
  options.profile = true;
  return options;
}

KernelWork work(Runtime& runtime, const char* text, const SymbolValues& symbols = {}) {
  const Schedule plan = runtime.schedule_for(parse_graph(text, runtime.builder()));
  REQUIRE(plan.steps.size() == 1);
  return work_of(std::get<KernelCall>(plan.steps[0].call), symbols);
}

}  // namespace

TEST_CASE("a profile has each kernel once, with what its launches did") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    Runtime runtime(timed(backend));
    const Graph graph = parse_graph(kLayer, runtime.builder());
    const Array w = numbers(DType::kF32, {1, 8, 32});
    for (const int64_t n : {9, 16, 4}) {
      const Array x = numbers(DType::kF32, {n, 1, 32});
      CHECK(runtime.run(graph, {x, w}, {}, "")[0] == evaluate(graph, {x, w})[0]);
    }
    const KernelProfile profile = runtime.profile();
    REQUIRE(profile.kernels.size() == 1);
    const KernelTime& time = profile.kernels[0];
    CHECK(time.graph == "layer");
    CHECK(time.kernel == runtime.kernels().at(0).name);
    CHECK(time.device == backend + ":0");
    CHECK(time.work == "mul reduce.add neg -> f32[n, 8, 1]");
    CHECK(time.launches == 3);
    CHECK(time.first_seconds > 0);  // and what follows is of the second and third
    CHECK(time.flops == (16 + 4) * (2 * 8 * 32 + 8));
    CHECK(time.bytes == (16 + 4) * (32 + 8) * 4 + 2 * 8 * 32 * 4);
    CHECK(time.least_seconds > 0);
    CHECK(time.seconds >= 2 * time.least_seconds);
    REQUIRE(profile.devices.size() == 1);
    const DeviceRates& rates = profile.devices[0];
    CHECK(rates.device == time.device);
    CHECK(rates.launch_seconds > 0);
    CHECK_FALSE(rates.by_device);  // neither of these has a clock of its own
    CHECK(rates.bytes_per_second > 0);
    CHECK(rates.flops_per_second > 0);
    CHECK(time.share_of_limit > 0);
    const std::string table = to_string(profile);
    CHECK(table.find("by the clock of the host") != std::string::npos);
    CHECK(table.find(time.device + ", layer, " + time.kernel + ": " + time.work) !=
          std::string::npos);
  }
}

TEST_CASE("kernels of branches, loops and functions of constants are in a profile") {
  Runtime runtime(timed("null"));
  const Graph graph = parse_graph(R"(graph powers(%x: f32[4], %trips: i64[]) {
  graph twice(%i: i64[], %v: f32[4]) {
    %w = add %v, %v
    return %w
  }
  %y = loop %trips, %x, body=twice, carried=1
  return %y
})",
                                  runtime.builder());
  const Array x = numbers(DType::kF32, {4});
  Array trips = numbers(DType::kI64, {});
  const int64_t five = 5;
  std::memcpy(trips.bytes.data(), &five, sizeof five);
  CHECK(runtime.run(graph, {x, trips}, {}, "")[0] == evaluate(graph, {x, trips})[0]);
  const KernelProfile profile = runtime.profile();
  REQUIRE(profile.kernels.size() == 1);
  CHECK(profile.kernels[0].graph == "twice");
  CHECK(profile.kernels[0].launches == 5);
}

TEST_CASE("a slice, a gather and a store count what they touch") {
  Runtime runtime(timed("null"));
  CHECK(work(runtime, R"(graph slice(%x: f32[1000]) {
  %s = shrink %x, ranges=[(8,18)]
  %y = neg %s
  return %y
})")
            .bytes == 2 * 10 * 4);
  CHECK(work(runtime, R"(graph gather(%x: f32[1000, 4], %i: i32[3, 4]) {
  %y = take %x, %i, axis=0
  return %y
})")
            .bytes == 3 * 3 * 4 * 4);
  CHECK(work(runtime, R"(graph fma(%x: f32[n]) where 1 <= n <= 9 {
  %y = fma %x, %x, %x
  return %y
})",
             {{"n", 5}})
            .flops == 10);
  CHECK(work(runtime, R"(graph moved(%x: i32[6]) {
  %y = flip %x, axes=[0]
  return %y
})")
            .text == "move -> i32[6]");
}

TEST_CASE("a context without a profile says so, and one that validates has none") {
  Runtime plain(options_for("null", "null"));
  CHECK_THROWS_AS(plain.profile(), Error);
  RuntimeOptions both = timed("null");
  both.validate = true;
  CHECK_THROWS_AS(Runtime(both), Error);
}
