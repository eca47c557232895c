// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models on the CPU plugin and on other devices, in turn with PyTorch from equal weights on equal
// inputs.
#include <fmt/format.h>

#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/bench/beside.hpp"
#include "tests/bench/limits.hpp"
#include "tests/bench/models.hpp"
#include "tests/bench/peer_process.hpp"
#include "tests/bench/scratch_folder.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

constexpr double kTolerance = 1e-3;

/// Where a model runs: on so many threads of the CPU plugin, or on the device of that name.
struct Place {
  Context& context;
  int threads = 1;
  std::string gpu;
};

void bench_one(Suite& suite, const ModelWorkload& model, const std::string& name,
               const Place& place, PeerProcess* process) {
  Context& context = place.context;
  const ScratchFolder folder;
  const std::string tensors = folder.path() + "/tensors", result = folder.path() + "/result";
  const auto call = model.start(context, tensors);
  std::vector<float> got;
  for (int i = 0; i < model.checked_calls; ++i) {
    const std::vector<float> values = call().to_vector<float>();
    got.insert(got.end(), values.begin(), values.end());
  }
  const Peers peers = prepared(
      process,
      [&](const std::string& peer) {
        return process->prepare_model(peer, model.name, place.threads, model.checked_calls, tensors,
                                      result, place.gpu);
      },
      got, result, kTolerance);
  Beside of{.name = name, .unit = "ms", .scale = 1e3};
  Device& device = runtime_of(context).device();
  const auto step = [&] { realize({call()}); };
  if (!place.gpu.empty()) {
    suite.add(beside_best(of, queued(device, step), peers));
    return;
  }
  if (model.read_bytes > 0) {
    of.limit = repeated(read_contender(place.threads));
    of.limit_work = kReadBytes;
    of.share_work = model.read_bytes;
  }
  suite.add(beside_best(of, repeated([&] {
                          step();
                          device.synchronize();
                        }),
                        peers));
}

}  // namespace

void bench_models(Suite& suite, PeerProcess* peers) {
  for (const ModelWorkload& model : model_workloads()) {
    for (int threads = 1; threads <= suite.most_threads(); ++threads) {
      const std::string name = fmt::format("models/{}/threads={}", model.name, threads);
      if (suite.wanted(name))
        bench_one(suite, model, name, {suite.context(threads), threads, ""}, peers);
    }
  }
}

void bench_models_on(Suite& suite, PeerProcess* peers, const std::string& id,
                     const std::string& gpu) {
  ContextOptions options;
  options.devices = id;
  options.disk_cache = false;
  Context context(options);
  for (const ModelWorkload& model : model_workloads()) {
    const std::string name = fmt::format("models/{} on {}", model.name, id);
    if (suite.wanted(name)) bench_one(suite, model, name, {context, 1, gpu}, peers);
  }
}

}  // namespace tenon::bench
