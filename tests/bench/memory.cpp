// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes on the CPU plugin, beside plain loops and a copy.
#include <fmt/format.h>

#include "tests/bench/limits.hpp"
#include "tests/bench/passes.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

void bench_pass(Suite& suite, const Pass& pass, int threads) {
  const std::string name =
      fmt::format("{}/{}x{}/threads={}", pass.name, kPassRows, kPassColumns, threads);
  if (!suite.wanted(name)) return;
  Runtime& runtime = suite.runtime(threads);
  const Graph graph = pass.graph(runtime.builder());
  const std::vector<float> x = random_floats(kPassCount, 3);
  const std::vector<BufferRef> inputs{to_device(runtime, x)};
  std::vector<float> y(kPassCount);
  std::vector<std::function<void()>> contenders{runner(runtime, graph, inputs),
                                                copy_contender(threads)};
  const auto plain = [&] { pass.plain(y.data(), x.data()); };
  if (threads == 1) contenders.emplace_back(plain);
  const std::vector<Timing> timings = measure(contenders);
  plain();
  Row row;
  row.name = name;
  row.ours = kPassGigabytes / timings[0].seconds;
  row.unit = "GB/s";
  row.spread = timings[0].spread;
  row.wrong = difference(to_host(runtime.run(graph, inputs)[0], kPassCount), y, pass.relative);
  row.peer_name = "plain C++ loops";
  if (threads == 1)
    row.peer = kPassGigabytes / timings[2].seconds;
  else
    row.peer_name = "none: plain loops use one thread";
  row.ratio = ratio_of(row.ours, row.peer, false);
  row.limit_ratio = row.ours / (2.0 * kCopyBytes * 1e-9 / timings[1].seconds);
  suite.add(std::move(row));
}

}  // namespace

void bench_memory(Suite& suite) {
  for (int threads = 1; threads <= suite.most_threads(); ++threads) {
    for (const Pass& pass : passes()) bench_pass(suite, pass, threads);
  }
}

}  // namespace tenon::bench
