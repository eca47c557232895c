// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workloads on the CPU plugin, in turn with the other libraries and the machine's limit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/bench/limits.hpp"
#include "tests/bench/peer_process.hpp"
#include "tests/bench/scratch_folder.hpp"
#include "tests/bench/suite.hpp"
#include "tests/bench/workloads.hpp"

namespace tenon::bench {
namespace {

std::string name_of(const Workload& workload, int threads) {
  return fmt::format("{}/threads={}", workload.name, threads);
}

/// What both sides read: i8 as such, all else as f32.
class InputFiles {
 public:
  explicit InputFiles(const Workload& workload) {
    for (size_t i = 0; i < workload.shapes.size(); ++i) {
      size_t count = 1;
      for (const int64_t size : workload.shapes[i]) count *= static_cast<size_t>(size);
      values_.push_back(random_floats(count, static_cast<uint32_t>(11 + i)));
      files_.push_back(folder_.path() + fmt::format("/{}", i));
      std::ofstream out(files_.back(), std::ios::binary);
      if (workload.dtype == DType::kI8) {
        std::vector<int8_t> bytes(count);
        for (size_t k = 0; k < count; ++k) {
          values_[i][k] = std::floor(8 * values_[i][k]);
          bytes[k] = static_cast<int8_t>(values_[i][k]);
        }
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(count));
      } else {
        out.write(reinterpret_cast<const char*>(values_[i].data()),
                  static_cast<std::streamsize>(count * sizeof(float)));
      }
    }
  }

  std::vector<Tensor> tensors(const Workload& workload, Context& context) const {
    std::vector<Tensor> out;
    for (size_t i = 0; i < values_.size(); ++i) {
      out.push_back(
          Tensor::from<float>(std::span<const float>(values_[i]), workload.shapes[i], context)
              .cast(workload.dtype));
      Tensor::realize({out.back()});
    }
    if (!workload.prepare) return out;
    out = workload.prepare(out);
    Tensor::realize(out);
    return out;
  }
  const std::vector<std::string>& files() const { return files_; }
  std::string result() const { return folder_.path() + "/result"; }

 private:
  ScratchFolder folder_;
  std::vector<std::vector<float>> values_;
  std::vector<std::string> files_;
};

/// "" if the results are the same, but for what rounding does to the largest.
std::string difference(const std::vector<float>& got, const std::vector<float>& expected,
                       double tolerance) {
  double largest = 0;
  for (const float e : expected) largest = std::max(largest, std::abs(static_cast<double>(e)));
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (!(error <= tolerance * largest))
      return fmt::format("element {}: expected {}, got {}", i, expected[i], got[i]);
  }
  return {};
}

std::string difference(const std::vector<float>& got, const std::string& file, double tolerance) {
  std::vector<float> expected(got.size());
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(expected.data()),
          static_cast<std::streamsize>(got.size() * sizeof(float)));
  if (!in || in.peek() != std::ifstream::traits_type::eof())
    return fmt::format("expected a result of {} elements of the peer", got.size());
  return difference(got, expected, tolerance);
}

struct Peers {
  std::vector<std::string> names;  ///< of those that run it
  std::string missing;             ///< why the others do not
  std::string wrong;               ///< how our result differs from theirs
};

Peers prepared(PeerProcess* process, const Workload& workload, int threads, const InputFiles& files,
               const std::vector<float>& got) {
  Peers out;
  if (!process) {
    out.missing = "none: --peers names no Python";
    return out;
  }
  for (const std::string& name : process->names()) {
    const std::string why =
        process->prepare(name, workload, threads, files.files(), files.result());
    if (why.empty()) {
      out.names.push_back(name);
      if (out.wrong.empty()) out.wrong = difference(got, files.result(), workload.tolerance);
    } else {
      out.missing += fmt::format("{}{}: {}", out.missing.empty() ? "" : "; ", name, why);
    }
  }
  return out;
}

void bench_one(Suite& suite, const Workload& workload, int threads, PeerProcess* process) {
  Context& context = suite.context(threads);
  const InputFiles files(workload);
  const std::vector<Tensor> inputs = files.tensors(workload, context);
  const auto step =
      compile([&](const std::vector<Tensor>& x) { return workload.ours(x); }, {.name = "workload"});
  const std::vector<float> got = step(inputs).cast(DType::kF32).to_vector<float>();
  const Peers peers = prepared(process, workload, threads, files, got);

  std::vector<Contender> contenders{repeated([&] {
    step(inputs);
    runtime_of(context).device().synchronize();
  })};
  if (workload.moves) contenders.push_back(repeated(copy_contender(threads)));
  for (const std::string& name : peers.names)
    contenders.emplace_back([process, name](int calls) { return process->time(name, calls); });
  const std::vector<Timing> timings = measure_calls(contenders);

  Row row;
  row.name = name_of(workload, threads);
  row.unit = workload.moves ? "GB/s" : "GFLOP/s";
  const double work = workload.work * 1e-9;
  row.ours = work / timings[0].seconds;
  row.best = work / timings[0].least;
  row.spread = timings[0].spread;
  row.wrong = peers.wrong;
  row.peer_name = peers.missing;
  const size_t first = workload.moves ? 2 : 1;
  for (size_t p = 0; p < peers.names.size(); ++p) {
    const double rate = work / timings[first + p].seconds;
    if (row.peer && *row.peer >= rate) continue;
    row.peer = rate;
    row.peer_name = peers.names[p];
  }
  row.ratio = ratio_of(row.ours, row.peer, false);
  if (workload.moves)
    row.limit_ratio = row.ours / (2.0 * kCopyBytes * 1e-9 / timings[1].seconds);
  else if (const double peak = suite.limits().of(threads).fma_gflops; peak > 0)
    row.limit_ratio = row.ours / peak;
  suite.add(std::move(row));
}

void bench_beside_cpu(Suite& suite, Context& context, const Workload& workload,
                      const std::string& name) {
  const InputFiles files(workload);
  std::vector<Contender> contenders;
  std::vector<std::vector<float>> got;
  for (Context* where : {&context, &suite.context(suite.most_threads())}) {
    const auto step = compile([&](const std::vector<Tensor>& x) { return workload.ours(x); },
                              {.name = "workload"});
    const std::vector<Tensor> inputs = files.tensors(workload, *where);
    got.push_back(step(inputs).cast(DType::kF32).to_vector<float>());
    contenders.push_back(repeated([step, inputs, where] {
      step(inputs);
      runtime_of(*where).device().synchronize();
    }));
  }
  const std::vector<Timing> timings = measure_calls(contenders);
  Row row;
  row.name = name;
  row.unit = workload.moves ? "GB/s" : "GFLOP/s";
  row.ours = workload.work * 1e-9 / timings[0].seconds;
  row.best = workload.work * 1e-9 / timings[0].least;
  row.spread = timings[0].spread;
  row.wrong = difference(got[0], got[1], workload.tolerance);
  row.peer = workload.work * 1e-9 / timings[1].seconds;
  row.peer_name = fmt::format("the CPU plugin, {} threads", suite.most_threads());
  row.ratio = ratio_of(row.ours, row.peer, false);
  suite.add(std::move(row));
}

}  // namespace

void bench_on_processor(Suite& suite, const std::string& id) {
  ContextOptions options;
  options.devices = id;
  options.disk_cache = false;
  Context context(options);
  for (const Workload& workload : workloads()) {
    const std::string name = fmt::format("{} on {}", workload.name, id);
    if (suite.wanted(name)) bench_beside_cpu(suite, context, workload, name);
  }
}

void bench_workloads(Suite& suite, PeerProcess* peers) {
  for (const Workload& workload : workloads()) {
    for (int threads = 1; threads <= suite.most_threads(); ++threads) {
      if (!suite.wanted(name_of(workload, threads))) continue;
      bench_one(suite, workload, threads, peers);
    }
  }
}

}  // namespace tenon::bench
