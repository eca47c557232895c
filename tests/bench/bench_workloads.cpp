// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workloads on the CPU plugin, in turn with the other libraries and the machine's limit.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <memory>

#include "core/support/output.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/bench/beside.hpp"
#include "tests/bench/limits.hpp"
#include "tests/bench/peer_process.hpp"
#include "tests/bench/peers.hpp"
#include "tests/bench/scratch_folder.hpp"
#include "tests/bench/suite.hpp"
#include "tests/bench/workloads.hpp"

namespace tenon::bench {
namespace {

constexpr double kLongWork = 1e10;  ///< operations: a call takes a tenth of a second and more

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
      if (workload.dtype == DType::kI8) {
        std::ofstream out(files_.back(), std::ios::binary);
        std::vector<int8_t> bytes(count);
        for (size_t k = 0; k < count; ++k) {
          values_[i][k] = std::floor(8 * values_[i][k]);
          bytes[k] = static_cast<int8_t>(values_[i][k]);
        }
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(count));
      } else {
        write_floats(files_.back(), values_[i]);
      }
    }
  }

  std::vector<Tensor> tensors(const Workload& workload, Context& context) const {
    std::vector<Tensor> out;
    for (size_t i = 0; i < values_.size(); ++i) {
      out.push_back(tensor<float>(std::span<const float>(values_[i]), workload.shapes[i], context)
                        .astype(workload.dtype));
      realize({out.back()});
    }
    if (!workload.prepare) return out;
    out = workload.prepare(out);
    realize(out);
    return out;
  }
  const std::vector<std::string>& files() const { return files_; }
  const std::vector<float>& values(size_t input) const { return values_[input]; }
  std::string result() const { return folder_.path() + "/result"; }

 private:
  ScratchFolder folder_;
  std::vector<std::vector<float>> values_;
  std::vector<std::string> files_;
};

std::vector<SgemmPeer> opened_libraries() {
  std::vector<SgemmPeer> out = sgemm_peers();
  for (const SgemmPeer& library : out)
    if (!library.missing.empty())
      complain("tenon-bench", fmt::format("{}: {}", library.name, library.missing));
  return out;
}

void add_libraries(Peers& peers, const Workload& workload, int threads, const InputFiles& files,
                   std::vector<SgemmPeer>& libraries, const std::vector<float>& got) {
  const int m = static_cast<int>(workload.shapes[0][0]),
            k = static_cast<int>(workload.shapes[0][1]),
            n = static_cast<int>(workload.shapes[1][1]);
  for (SgemmPeer& library : libraries) {
    if (!library.missing.empty()) continue;
    const auto c = std::make_shared<std::vector<float>>(got.size());
    const auto run = [&library, &files, c, m, n, k, threads] {
      library.set_threads(threads);
      library.run(m, n, k, files.values(0).data(), files.values(1).data(), c->data());
    };
    run();
    if (peers.wrong.empty()) peers.wrong = mismatch(got, *c, workload.tolerance);
    peers.all.push_back({library.name, repeated(run)});
  }
}

auto compiled(const Workload& workload) {
  return compile([&](const std::vector<Tensor>& x) { return workload.ours(x).all; },
                 {.name = "workload"});
}

std::vector<float> floats_of(const std::vector<Tensor>& results) {
  std::vector<float> out;
  for (const Tensor& result : results) {
    const std::vector<float> more = result.astype(DType::kF32).to_vector<float>();
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

void bench_one(Suite& suite, const Workload& workload, int threads, PeerProcess* process,
               std::vector<SgemmPeer>& libraries) {
  Context& context = suite.context(threads);
  const InputFiles files(workload);
  const std::vector<Tensor> inputs = files.tensors(workload, context);
  const auto step = compiled(workload);
  const std::vector<float> got = floats_of(step(inputs));
  Peers peers = prepared(
      process,
      [&](const std::string& name) {
        return process->prepare(name, workload, threads, files.files(), files.result());
      },
      got, files.result(), workload.tolerance);
  if (workload.is_sgemm) add_libraries(peers, workload, threads, files, libraries, got);

  Beside of{.name = name_of(workload, threads),
            .unit = workload.bound == Bound::kArithmetic ? "GFLOP/s" : "GB/s",
            .work = workload.work,
            .share_work = workload.work};
  if (workload.bound == Bound::kCopy) {
    of.limit = repeated(copy_contender(threads));
    of.limit_work = 2 * kCopyBytes;
  } else if (workload.bound == Bound::kRead) {
    of.limit = repeated(read_contender(threads));
    of.limit_work = kReadBytes;
  }
  Row row = beside_best(of, repeated([&] {
                          step(inputs);
                          runtime_of(context).device().synchronize();
                        }),
                        peers, workload.work < kLongWork ? 9 : 3);
  if (const double peak = suite.limits().of(threads).fma_gflops;
      workload.bound == Bound::kArithmetic && peak > 0)
    row.limit_ratio = row.ours / peak;
  suite.add(std::move(row));
}

void bench_beside_cpu(Suite& suite, Context& context, const Workload& workload,
                      const std::string& name) {
  const InputFiles files(workload);
  std::vector<Contender> contenders;
  std::vector<std::vector<float>> got;
  for (Context* where : {&context, &suite.context(suite.most_threads())}) {
    const auto step = compiled(workload);
    const std::vector<Tensor> inputs = files.tensors(workload, *where);
    got.push_back(floats_of(step(inputs)));
    contenders.push_back(repeated([step, inputs, where] {
      step(inputs);
      runtime_of(*where).device().synchronize();
    }));
  }
  const std::vector<Timing> timings = measure_calls(contenders);
  Row row;
  row.name = name;
  row.unit = workload.bound == Bound::kArithmetic ? "GFLOP/s" : "GB/s";
  row.ours = workload.work * 1e-9 / timings[0].seconds;
  row.best = workload.work * 1e-9 / timings[0].least;
  row.spread = timings[0].spread;
  row.wrong = mismatch(got[0], got[1], workload.tolerance);
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
  std::vector<SgemmPeer> libraries;
  for (const Workload& workload : workloads()) {
    for (int threads = 1; threads <= suite.most_threads(); ++threads) {
      if (!suite.wanted(name_of(workload, threads))) continue;
      if (workload.is_sgemm && libraries.empty()) libraries = opened_libraries();
      bench_one(suite, workload, threads, peers, libraries);
    }
  }
}

}  // namespace tenon::bench
