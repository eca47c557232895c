// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models on the CPU plugin, in turn with PyTorch from equal weights on equal inputs.
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

void bench_one(Suite& suite, const ModelWorkload& model, const std::string& name, int threads,
               PeerProcess* process) {
  Context& context = suite.context(threads);
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
        return process->prepare_model(peer, model.name, threads, model.checked_calls, tensors,
                                      result);
      },
      got, result, kTolerance);
  Beside of{.name = name, .unit = "ms", .scale = 1e3};
  if (model.read_bytes > 0) {
    of.limit = repeated(read_contender(threads));
    of.limit_work = kReadBytes;
    of.share_work = model.read_bytes;
  }
  suite.add(beside_best(of, repeated([&] {
                          Tensor::realize({call()});
                          runtime_of(context).device().synchronize();
                        }),
                        peers));
}

}  // namespace

void bench_models(Suite& suite, PeerProcess* peers) {
  for (const ModelWorkload& model : model_workloads()) {
    for (int threads = 1; threads <= suite.most_threads(); ++threads) {
      const std::string name = fmt::format("models/{}/threads={}", model.name, threads);
      if (suite.wanted(name)) bench_one(suite, model, name, threads, peers);
    }
  }
}

}  // namespace tenon::bench
