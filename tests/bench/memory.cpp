// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass over data larger than the cache: a chain of elementwise ops, and softmax over rows.
#include <fmt/format.h>

#include <cmath>

#include "tests/bench/limits.hpp"
#include "tests/bench/plain_loops.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

constexpr int64_t kColumns = 1024;
constexpr int64_t kRows = 32768;  // 128 MiB in, 128 MiB out
constexpr size_t kCount = static_cast<size_t>(kRows * kColumns);
constexpr float kA = 1.5f, kB = 0.25f, kC = 0.5f, kD = -1;

NodeRef number(Builder& b, double value) {
  return b.constant(Scalar::of(DType::kF32, value), {kRows, kColumns});
}

Graph chain_graph(Builder& b) {
  const NodeRef x = b.param("x", DType::kF32, {kRows, kColumns});
  const NodeRef inner = b.binary(Op::ADD, b.binary(Op::MUL, x, number(b, kA)), number(b, kB));
  const NodeRef positive = b.binary(Op::MAX, inner, number(b, 0));
  return make_graph("chain", {x},
                    {b.binary(Op::ADD, b.binary(Op::MUL, positive, number(b, kC)), number(b, kD))});
}

Graph softmax_graph(Builder& b) {
  const Shape shape{kRows, kColumns};
  const NodeRef x = b.param("x", DType::kF32, shape);
  const NodeRef peak = b.expand(b.reduce(Op::MAX, x, {1}), shape);
  const NodeRef shifted = b.binary(Op::SUB, x, peak);
  const NodeRef e = b.unary(Op::EXP2, b.binary(Op::MUL, shifted, number(b, 1.4426950408889634)));
  const NodeRef inverse = b.unary(Op::RECIP, b.reduce(Op::ADD, e, {1}));
  return make_graph("softmax", {x}, {b.binary(Op::MUL, e, b.expand(inverse, shape))});
}

std::string near(const std::vector<float>& got, const std::vector<float>& expected,
                 double relative) {
  for (size_t i = 0; i < got.size(); ++i) {
    const double e = static_cast<double>(expected[i]), g = static_cast<double>(got[i]);
    if (!(std::abs(g - e) <= relative * std::abs(e) + 1e-7))
      return fmt::format("element {}: expected {}, got {}", i, e, g);
  }
  return {};
}

struct Pass {
  const char* name;
  Graph (*graph)(Builder&);
  void (*plain)(float* y, const float* x);
  double relative;
};

void plain_chain_all(float* y, const float* x) { plain_chain(y, x, kCount, kA, kB, kC, kD); }
void plain_softmax_all(float* y, const float* x) {
  plain_softmax(y, x, static_cast<size_t>(kRows), static_cast<size_t>(kColumns));
}

void bench_pass(Suite& suite, const Pass& pass, int threads) {
  const std::string name = fmt::format("{}/{}x{}/threads={}", pass.name, kRows, kColumns, threads);
  if (!suite.wanted(name)) return;
  Context& context = suite.context(threads);
  const Graph graph = pass.graph(context.builder());
  const std::vector<float> x = random_floats(kCount, 3);
  const std::vector<BufferRef> inputs{to_device(context, x)};
  std::vector<float> y(kCount);
  std::vector<std::function<void()>> contenders{runner(context, graph, inputs),
                                                copy_contender(threads)};
  const auto plain = [&] { pass.plain(y.data(), x.data()); };
  if (threads == 1) contenders.emplace_back(plain);
  const std::vector<Timing> timings = measure(contenders);
  plain();
  const double gigabytes = 2.0 * kCount * sizeof(float) * 1e-9;
  Row row;
  row.name = name;
  row.ours = gigabytes / timings[0].seconds;
  row.unit = "GB/s";
  row.spread = timings[0].spread;
  row.wrong = near(to_host(context.run(graph, inputs)[0], kCount), y, pass.relative);
  row.peer_name = "plain C++ loops";
  if (threads == 1)
    row.peer = gigabytes / timings[2].seconds;
  else
    row.peer_name = "none: plain loops use one thread";
  row.ratio = ratio_of(row.ours, row.peer, false);
  row.limit_ratio = row.ours / (2.0 * kCopyBytes * 1e-9 / timings[1].seconds);
  suite.add(std::move(row));
}

}  // namespace

void bench_memory(Suite& suite) {
  for (int threads = 1; threads <= suite.most_threads(); ++threads) {
    bench_pass(suite, {"elementwise chain", chain_graph, plain_chain_all, 1e-6}, threads);
    bench_pass(suite, {"softmax rows", softmax_graph, plain_softmax_all, 2e-5}, threads);
  }
}

}  // namespace tenon::bench
