// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that wait for each other and are so small that handing them over is what counts.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/bench/beside.hpp"
#include "tests/bench/peer_process.hpp"
#include "tests/bench/scratch_folder.hpp"
#include "tests/bench/suite.hpp"
#include "tests/bench/workloads.hpp"

namespace tenon::bench {
namespace {

constexpr int kKernels = 100;

/// Sums over rows and over columns of a square, each spread over the square again.
Tensor chain(const Tensor& x) {
  const int64_t n = x.size(0);
  Tensor y = x;
  for (int i = 0; i < kKernels; ++i)
    y = y.sum(i % 2, true).broadcast_to({n, n}) * (1 / static_cast<double>(n));
  return y + x;
}

/// An op that waits for the one before, beside an op of PyTorch.
void bench_beside_ops(Suite& suite, int threads, PeerProcess* process) {
  constexpr int64_t kSide = 8;
  const std::string name = fmt::format("launch/op in a chain, 8x8/threads={}", threads);
  if (!suite.wanted(name)) return;
  Workload workload;
  workload.shapes = {{kSide, kSide}};
  workload.torch =
      "functools.reduce(lambda y, i: y.sum(i % 2, keepdim=True).broadcast_to(8, 8) * 0.125, "
      "range(100), "
      "x[0]) + x[0]";
  const ScratchFolder folder;
  const std::string file = folder.path() + "/0", result = folder.path() + "/result";
  const std::vector<float> values = random_floats(kSide * kSide, 3);
  write_floats(file, values);
  Context& context = suite.context(threads);
  const Tensor x = tensor<float>(std::span<const float>(values), {kSide, kSide}, context);
  const auto call = compile([](const Tensor& from) { return chain(from); }, {.name = "chain"});
  const Peers peers = prepared(
      process,
      [&](const std::string& peer) {
        return process->prepare(peer, workload, threads, {file}, result);
      },
      call(x).to_vector<float>(), result, 1e-4);
  suite.add(beside_best({.name = name, .unit = "us", .scale = 1e6 / kKernels}, repeated([&] {
                          realize({call(x)});
                          runtime_of(context).device().synchronize();
                        }),
                        peers));
}

/// What two threads need to hand a kernel to each other: the time of one that both work on, beyond
/// half of what one thread takes for it.
void bench_shared_kernel(Suite& suite) {
  constexpr int64_t kSide = 384;
  const std::string name = "launch/kernel that two threads share, beyond its work";
  if (!suite.wanted(name) || suite.most_threads() < 2) return;
  std::vector<std::function<void()>> contenders;
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2}) {
    Context& context = suite.context(threads);
    const std::vector<float> values = random_floats(kSide * kSide, 3);
    const Tensor x = tensor<float>(std::span<const float>(values), {kSide, kSide}, context);
    const auto call = compile([](const Tensor& from) { return chain(from); }, {.name = "chain"});
    results.push_back(call(x).to_vector<float>());
    contenders.emplace_back([call, x, &context] {
      realize({call(x)});
      runtime_of(context).device().synchronize();
    });
  }
  const std::vector<Timing> timings = measure(contenders);
  Timing beyond = timings[1];
  beyond.seconds = std::max(0.0, timings[1].seconds - timings[0].seconds / 2);
  Row row = against_bar(name, beyond, 1e6 / kKernels, "us", 1);
  row.wrong = mismatch(results[0], results[1], 1e-5);
  suite.add(std::move(row));
}

}  // namespace

void bench_launches(Suite& suite, PeerProcess* peers) {
  for (int threads = 1; threads <= suite.most_threads(); ++threads)
    bench_beside_ops(suite, threads, peers);
  bench_shared_kernel(suite);
}

}  // namespace tenon::bench
