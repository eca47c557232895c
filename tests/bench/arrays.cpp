// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running sums, sorting, Einstein's sum and a solution through the tensor API: beside copying,
// beside std::sort, which has one thread.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

constexpr int64_t kCount = 1 << 20;

std::function<void()> realizing(const std::function<Tensor()>& make) {
  return [make] {
    const Tensor x = make();
    realize({x});
    runtime_of(x.context()).device().synchronize();
  };
}

Row beside(std::string name, const Timing& ours, const Timing& peer, std::string peer_name) {
  Row row;
  row.name = std::move(name);
  row.ours = ours.seconds * 1e3;
  row.peer = peer.seconds * 1e3;
  row.peer_name = std::move(peer_name);
  row.unit = "ms";
  row.ratio = ratio_of(row.ours, row.peer, true);
  row.spread = ours.spread;
  return row;
}

/// What NumPy has a function for; its times stand in docs/measured.
void bench_matrices(Suite& suite, Context& context) {
  constexpr int64_t kSize = 512;
  const auto matrix = [&](uint32_t seed) {
    const std::vector<float> values = random_floats(kSize * kSize, seed);
    return tensor<float>(std::span<const float>(values), {kSize, kSize}, context);
  };
  const Tensor a = matrix(8), b = matrix(9);
  const auto add = [&](const std::string& name, const std::function<Tensor()>& make,
                       const std::function<Tensor()>& residual) {
    if (!suite.wanted(name)) return;
    const Timing timing = measure({realizing(make)})[0];
    Row row;
    row.name = name;
    row.ours = timing.seconds * 1e3;
    row.unit = "ms";
    row.peer_name = "none: NumPy's is in docs/measured";
    row.spread = timing.spread;
    const auto wrong = residual().abs().max().item<float>();
    if (!(wrong < 0.05f)) row.wrong = fmt::format("a residual of {}", wrong);
    suite.add(std::move(row));
  };
  const auto product = [&] { return einsum("ij,jk->ik", {a, b}); };
  const auto solution = [&] { return solve(a, b); };
  add("batched/einsum of 512x512 f32", product, [&] { return product() - a.matmul(b); });
  add("solve/solve of 512x512 f32", solution, [&] { return a.matmul(solution()) - b; });
}

/// Running sums of one long row, and the row sorted.
void bench_row(Suite& suite, int threads) {
  const std::string suffix = fmt::format("/threads={}", threads);
  const std::string sums = "scan/cumsum of 2^20 f32" + suffix,
                    order = "sort/sort of 2^20 f32" + suffix;
  if (!suite.wanted(sums) && !suite.wanted(order)) return;
  Context& context = suite.context(threads);
  const std::vector<float> values = random_floats(kCount, 7);
  const Tensor x = tensor<float>(std::span<const float>(values), {kCount}, context);
  if (suite.wanted(sums)) {
    const auto timings =
        measure({realizing([&] { return cumsum(x, 0); }), realizing([&] { return copy(x); })});
    Row row = beside(sums, timings[0], timings[1], "copy");
    const double last = cumsum(x, 0).slice({Slice{-1, {}}}).item<float>();
    double total = 0;
    for (const float v : values) total += static_cast<double>(v);
    if (std::abs(last - total) > 1)
      row.wrong = fmt::format("expected a sum of {}, got {}", total, last);
    suite.add(std::move(row));
  }
  if (!suite.wanted(order)) return;
  std::vector<float> sorted;
  const auto timings = measure({realizing([&] { return sort(x); }), [&] {
                                  sorted = values;
                                  std::ranges::sort(sorted);
                                }});
  Row row = beside(order, timings[0], timings[1], "std::sort");
  if (sort(x).to_vector<float>() != sorted) row.wrong = "not in order";
  suite.add(std::move(row));
}

}  // namespace

void bench_arrays(Suite& suite) {
  if (suite.wanted("batched/einsum of 512x512 f32") || suite.wanted("solve/solve of 512x512 f32"))
    bench_matrices(suite, suite.context(1));
  for (int threads = 1; threads <= suite.most_threads(); ++threads) bench_row(suite, threads);
}

}  // namespace tenon::bench
