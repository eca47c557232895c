// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the core itself costs: compiling, replaying a cached plan, crossing the plugin boundary.
// The peer of these rows is the bar that was set for them.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "core/support/error.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

constexpr int kColdCompiles = 11;
constexpr int64_t kElementwiseCount = 64;
constexpr int kCalls = 200000;

/// In a process whose compiler has compiled before: another size each time, and in each of --runs,
/// so that no cache knows the kernel.
void bench_compile(Suite& suite) {
  const std::string name = "compile/elementwise, later in a process";
  if (!suite.wanted(name)) return;
  Runtime& runtime = suite.runtime(1);
  std::vector<double> seconds;
  std::string wrong;
  static int64_t count = kElementwiseCount;
  for (int i = 0; i < kColdCompiles; ++i, ++count) {
    const std::vector<BufferRef> inputs{
        to_device(runtime, std::vector<float>(static_cast<size_t>(count), 1.0f))};
    RunStats stats;
    const std::vector<BufferRef> out =
        runtime.run(elementwise_graph(runtime.builder(), count), inputs, {}, &stats);
    if (i > 0) seconds.push_back(stats.compile_ms * 1e-3);  // the first one also warms LLVM up
    if (std::string fault = elementwise_fault(to_host(out[0], 1)[0]); !fault.empty())
      wrong = std::move(fault);
    if (stats.plan_cached) wrong = "the plan was cached: nothing was compiled";
  }
  Row row = against_bar(name, summary(seconds), 1e3, "ms", 10);
  row.wrong = wrong;
  suite.add(std::move(row));
}

/// A step of gradient descent until the call returns, its rate another each time or the same.
void bench_constants(Suite& suite) {
  const std::string name = "launch/step, the rate";
  if (!suite.wanted(name)) return;
  Runtime& runtime = suite.runtime(1);
  Builder& b = runtime.builder();
  const Shape shape{kElementwiseCount};
  const std::vector<float> ones(static_cast<size_t>(kElementwiseCount), 1.0f);
  const std::vector<BufferRef> inputs{to_device(runtime, ones), to_device(runtime, ones)};
  std::string wrong;
  const auto seconds = [&](const std::function<float(int)>& rate) {
    std::vector<double> taken;
    for (int i = 0; i < 400; ++i) {
      const double begin = now();
      const NodeRef w = b.param("w", DType::kF32, shape), g = b.param("g", DType::kF32, shape);
      const NodeRef c = b.constant(Scalar::of(DType::kF32, static_cast<double>(rate(i))), shape);
      const NodeRef next = b.binary(Op::SUB, w, b.binary(Op::MUL, c, g));
      RunStats stats;
      const std::vector<BufferRef> out =
          runtime.run(make_graph("step", {w, g}, {next}), inputs, {}, &stats);
      if (i >= 2) taken.push_back(now() - begin);
      if (i >= 2 && !stats.plan_cached) wrong = "a plan was made for a rate";
      const float got = to_host(out[0], 1)[0];
      if (got != 1 - rate(i)) wrong = fmt::format("expected {}, got {}", 1 - rate(i), got);
    }
    return taken;
  };
  Row row =
      against_bar(name + " stays", summary(seconds([](int) { return 0.25f; })), 1e6, "us", 30);
  row.wrong = wrong;
  suite.add(std::move(row));
  row = against_bar(name + " changes",
                    summary(seconds([](int i) { return 0.5f + static_cast<float>(i) / 1024; })),
                    1e6, "us", 30);
  row.wrong = wrong;
  suite.add(std::move(row));
}

void bench_plugin_call(Suite& suite) {
  const std::string name = "launch/plugin call";
  if (!suite.wanted(name)) return;
  Device& device = suite.runtime(1).device();
  const tn_plugin& plugin = device.plugin();
  tn_target target = TN_INIT(tn_target);
  target.device = device.handle();
  const tn_properties* properties = nullptr;
  std::string wrong;
  const auto calls = [&] {
    for (int i = 0; i < kCalls; ++i)
      if (plugin.properties(&target, &properties, nullptr) != TN_OK) wrong = "properties failed";
  };
  Timing timing = measure({calls})[0];
  if (!properties || properties->struct_size == 0) wrong = "properties gave none";
  Row row = against_bar(name, timing, 1e9 / kCalls, "ns", 100);
  row.wrong = wrong;
  suite.add(std::move(row));
}

}  // namespace

Graph elementwise_graph(Builder& b, int64_t count) {
  const Shape shape{count};
  const NodeRef x = b.param("x", DType::kF32, shape);
  const NodeRef scaled = b.binary(Op::MUL, x, b.constant(Scalar::of(DType::kF32, 3), shape));
  return make_graph("elementwise", {x}, {b.unary(Op::SQRT, b.binary(Op::ADD, scaled, x))});
}

std::string elementwise_fault(float got) {
  return std::abs(got - 2) <= 1e-6f ? "" : fmt::format("expected 2, got {}", got);
}

void bench_overhead(Suite& suite) {
  bench_compile(suite);
  bench_constants(suite);
  bench_replay(suite, suite.runtime(1), "launch/replay");
  bench_plugin_call(suite);
}

}  // namespace tenon::bench
