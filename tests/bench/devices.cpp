// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The other backends of the machine beside the CPU plugin, in the same rounds: each device that
// computes, whatever it is.
#include <fmt/format.h>

#include "core/plugin/discovery.hpp"
#include "core/plugin/probe.hpp"
#include "core/support/error.hpp"
#include "tests/bench/passes.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

/// What passes its self-test in a process of its own; with an id that device alone.
std::vector<ProbedDevice> other_devices(const std::string& id) {
  std::vector<ProbedDevice> found;
  for (const PluginCandidate& candidate : installed_plugins().candidates) {
    if (!candidate.serves() || candidate.backend == "cpu") continue;
    if (!id.empty() && !id.starts_with(candidate.backend + ":")) continue;
    for (const ProbedDevice& device : probe_plugin(candidate.path, true).devices)
      if (device.selftest_ok && device.kind != "storage" && (id.empty() || device.id == id))
        found.push_back(device);
  }
  if (found.empty() && !id.empty())
    fail(ErrorKind::kEnvironment,
         "[--device] expected a device beside the CPU plugin's that passes its self-test, as "
         "cuda:0, found no \"{}\"",
         id);
  return found;
}

void bench_pass(Suite& suite, Runtime& runtime, const std::string& id, const Pass& pass) {
  const std::string name = fmt::format("{}/{}x{} on {}", pass.name, kPassRows, kPassColumns, id);
  if (!suite.wanted(name)) return;
  Runtime& cpu = suite.runtime(suite.most_threads());
  const std::vector<float> x = random_floats(kPassCount, 3);
  const auto on = [&](Runtime& where) {
    return runner(where, pass.graph(where.builder()), {to_device(where, x)});
  };
  const std::vector<Timing> timings = measure({on(runtime), on(cpu)});
  std::vector<float> y(kPassCount);
  pass.plain(y.data(), x.data());
  const std::vector<BufferRef> got =
      runtime.run(pass.graph(runtime.builder()), std::vector<BufferRef>{to_device(runtime, x)});
  Row row;
  row.name = name;
  row.ours = kPassGigabytes / timings[0].seconds;
  row.unit = "GB/s";
  row.spread = timings[0].spread;
  row.wrong = difference(to_host(got[0], kPassCount), y, pass.relative);
  row.peer = kPassGigabytes / timings[1].seconds;
  row.peer_name = fmt::format("the CPU plugin, {} threads", suite.most_threads());
  row.ratio = ratio_of(row.ours, row.peer, false);
  suite.add(std::move(row));
}

}  // namespace

void bench_devices(Suite& suite, PeerProcess* peers, const std::string& only) {
  for (const ProbedDevice& found : other_devices(only)) {
    const std::string& id = found.id;
    RuntimeOptions options;
    options.devices = id;
    options.disk_cache = false;
    Runtime runtime(options);
    for (const Pass& pass : passes()) bench_pass(suite, runtime, id, pass);
    bench_replay(suite, runtime, "launch/replay on " + id);
    if (found.kind == "gpu") bench_on_gpu(suite, peers, id, found.name);
    if (found.kind == "cpu") bench_on_processor(suite, id);
    if (found.kind == "gpu" || !only.empty()) bench_models_on(suite, peers, id, found.name);
  }
}

}  // namespace tenon::bench
