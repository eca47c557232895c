// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch costs when its plan is cached: a chain of tiny kernels, each waiting for the last.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

constexpr int kTinyKernels = 100;
constexpr int64_t kTiny = 8;

/// x and the sum of its rows or columns, in turn: each sum waits for the one before.
Graph tiny_graph(Builder& b) {
  const Shape shape{kTiny, kTiny};
  const NodeRef x = b.param("x", DType::kF32, shape);
  NodeRef y = x;
  for (int i = 0; i < kTinyKernels; ++i)
    y = b.expand(b.binary(Op::MUL, b.reduce(Op::ADD, y, {i % 2}),
                          b.constant(Scalar::of(DType::kF32, 1.0 / kTiny),
                                     i % 2 ? Shape{kTiny, 1} : Shape{1, kTiny})),
                 shape);
  return make_graph("tiny", {x}, {b.binary(Op::ADD, y, x)});
}

}  // namespace

void bench_replay(Suite& suite, Runtime& runtime, const std::string& name) {
  if (!suite.wanted(name)) return;
  const Graph graph = tiny_graph(runtime.builder());
  const std::vector<BufferRef> inputs{
      to_device(runtime, std::vector<float>(static_cast<size_t>(kTiny * kTiny), 1.0f))};
  runtime.run(graph, inputs);
  RunStats stats;
  const std::vector<BufferRef> out = runtime.run(graph, inputs, {}, &stats);
  const float got = to_host(out[0], 1)[0];
  std::string wrong;
  if (std::abs(got - 2) > 1e-5f) wrong = fmt::format("expected 2, got {}", got);
  if (!stats.plan_cached) wrong = "the plan was not cached";
  const double kernels = std::max(1, stats.kernels);
  const Timing whole = measure({runner(runtime, graph, inputs)})[0];
  // Until `run` returns: the core's part alone, with the kernels of earlier runs ended.
  std::vector<double> until_return;
  for (int i = 0; i < 200; ++i) {
    const double begin = now();
    const std::vector<BufferRef> kept = runtime.run(graph, inputs);
    until_return.push_back(now() - begin);
    runtime.device().synchronize();
  }
  Row row = against_bar(name + fmt::format(" ({} kernels)", stats.kernels), summary(until_return),
                        1e6 / kernels, "us", 5);
  row.wrong = wrong;
  suite.add(std::move(row));
  row = against_bar(name + ", until all is done", whole, 1e6 / kernels, "us", 5);
  row.wrong = wrong;
  suite.add(std::move(row));
}

}  // namespace tenon::bench
