// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// c[n, n] = a[n, n] b[n, n] in f32, from rules alone, beside oneDNN and OpenBLAS.
#include <fmt/format.h>

#include <cmath>

#include "tests/bench/peers.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

Graph sgemm_graph(Runtime& runtime, int64_t n) {
  Builder& b = runtime.builder();
  const NodeRef x = b.param("a", DType::kF32, {n, n}), y = b.param("b", DType::kF32, {n, n});
  const NodeRef left = b.expand(b.reshape(x, {n, n, 1}), {n, n, n});
  const NodeRef right = b.expand(b.reshape(y, {1, n, n}), {n, n, n});
  const NodeRef sum = b.reduce(Op::ADD, b.binary(Op::MUL, left, right), {1});
  return make_graph("sgemm", {x, y}, {b.reshape(sum, {n, n})});
}

/// Some elements against sums in double; empty if all are near.
std::string check(const std::vector<float>& a, const std::vector<float>& b,
                  const std::vector<float>& c, size_t n) {
  for (size_t sample = 0; sample < 200; ++sample) {
    const size_t i = sample * 7919 % n, j = (sample * 104729 + 31) % n;
    double sum = 0, magnitude = 0;
    for (size_t k = 0; k < n; ++k) {
      const double term = static_cast<double>(a[i * n + k]) * static_cast<double>(b[k * n + j]);
      sum += term;
      magnitude += std::abs(term);
    }
    const double got = static_cast<double>(c[i * n + j]);
    const double allowed = magnitude * static_cast<double>(n) * 6e-8;
    if (!(std::abs(got - sum) <= allowed))
      return fmt::format("c[{}, {}]: expected {} within {}, got {}", i, j, sum, allowed, got);
  }
  return {};
}

std::string name_of(int n, int threads) { return fmt::format("sgemm/{}/threads={}", n, threads); }

void bench_one(Suite& suite, std::vector<SgemmPeer>& peers, int n, int threads) {
  const std::string name = name_of(n, threads);
  const size_t count = static_cast<size_t>(n) * static_cast<size_t>(n);
  const std::vector<float> a = random_floats(count, 1), b = random_floats(count, 2);
  Runtime& runtime = suite.runtime(threads);
  const Graph graph = sgemm_graph(runtime, n);
  const std::vector<BufferRef> inputs{to_device(runtime, a), to_device(runtime, b)};
  std::vector<std::function<void()>> contenders{runner(runtime, graph, inputs)};
  std::vector<float> c(count);
  for (SgemmPeer& peer : peers) {
    if (!peer.missing.empty()) continue;
    contenders.push_back([&peer, &a, &b, &c, n, threads] {
      peer.set_threads(threads);
      peer.run(n, n, n, a.data(), b.data(), c.data());
    });
  }
  const int rounds = n < 2048 ? 9 : 3;
  const std::vector<Timing> timings = measure(contenders, rounds);
  const std::string wrong =
      check(a, b, to_host(runtime.run(graph, inputs)[0], count), static_cast<size_t>(n));
  const double flops = 2.0 * n * n * n * 1e-9;
  size_t next = 1;
  for (size_t p = 0; p < peers.size(); ++p) {
    Row row;
    row.name = p == 0 ? name : name + "/openblas";
    row.ours = flops / timings[0].seconds;
    row.unit = "GFLOP/s";
    row.spread = timings[0].spread;
    row.wrong = wrong;
    row.peer_name =
        peers[p].missing.empty() ? peers[p].name : peers[p].name + " missing: " + peers[p].missing;
    if (peers[p].missing.empty()) row.peer = flops / timings[next++].seconds;
    row.ratio = ratio_of(row.ours, row.peer, false);
    const double peak = suite.limits().of(threads).fma_gflops;
    if (peak > 0) row.limit_ratio = row.ours / peak;
    suite.add(std::move(row));
  }
}

}  // namespace

void bench_sgemm(Suite& suite) {
  std::vector<SgemmPeer> peers;
  for (int n : {256, 512, 1024, 2048, 4096}) {
    for (int threads = 1; threads <= suite.most_threads(); ++threads) {
      if (!suite.wanted(name_of(n, threads))) continue;
      if (peers.empty()) peers = sgemm_peers();
      bench_one(suite, peers, n, threads);
    }
  }
}

}  // namespace tenon::bench
