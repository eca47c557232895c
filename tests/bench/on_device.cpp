// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes over 256 MiB, products and single launches through the tensor API on a GPU, in turn with
// PyTorch on the same one, passes also with a copy on it. Results are not compared: other tools do.
#include <fmt/format.h>

#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/bench/beside.hpp"
#include "tests/bench/peer_process.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

constexpr int64_t kDeviceCount = 1 << 26;
constexpr double kGigabytes = 4e-9 * kDeviceCount;  ///< of one tensor

/// A call of the tensor API, and the same for PyTorch.
struct Work {
  std::string what;
  double amount = 0;  ///< what a call moves or computes, in `unit` seconds
  std::string unit;
  std::function<Tensor()> ours;
  std::vector<std::vector<int64_t>> shapes;  ///< of x[0], ..
  std::string torch;
  DType dtype = DType::kF32;
};

struct Gpu {
  Suite& suite;
  PeerProcess* peers;
  Context& context;
  std::string id, name;

  Device& device() const { return runtime_of(context).device(); }
  Tensor made(Tensor x) const {
    realize({x});
    return x;
  }
  Tensor drawn(std::vector<int64_t> shape, uint64_t seed, DType dtype = DType::kF32) const {
    return made(normal(Key(seed, context), std::move(shape)).astype(dtype));
  }

  /// Beside `copy`, of 256 MiB, where there is one.
  void row(const Work& work, const std::function<void()>& copy = {}) const {
    const std::string row_name = fmt::format("{} on {}", work.what, id);
    if (!suite.wanted(row_name)) return;
    Workload asked;
    asked.dtype = work.dtype;
    asked.shapes = work.shapes;
    asked.torch = work.torch;
    const Peers beside = prepared(
        peers,
        [&](const std::string& peer) { return peers->prepare(peer, asked, 1, {}, "", name); }, {},
        "", 0);
    Beside of{.name = row_name, .unit = work.unit, .work = work.amount * 1e9};
    if (copy) {
      of.limit = queued(device(), copy);
      of.limit_work = 2 * kGigabytes;
      of.share_work = work.amount;
    }
    suite.add(beside_best(of, queued(device(), [&] { realize({work.ours()}); }), beside));
  }
};

void bench_passes(const Gpu& gpu) {
  const std::vector<int64_t> line{kDeviceCount}, square{16384, 4096};
  const Tensor x = gpu.drawn(line, 1), y = gpu.drawn(line, 2);
  const Tensor m = gpu.made(x.reshape(square));
  const BufferRef from = gpu.device().allocate(4 * kDeviceCount),
                  to = gpu.device().allocate(4 * kDeviceCount);
  const auto copy = [&] { gpu.device().copy(*from, 0, *to, 0, 4 * kDeviceCount); };
  const auto pass = [&](const char* what, double tensors, const Tensor& of, const auto& f,
                        const char* torch) {
    const auto g = compile(f);
    gpu.row({what, tensors * kGigabytes, "GB/s", [&] { return g(of); }, {of.shape()}, torch}, copy);
  };
  const auto add = compile([](const Tensor& a, const Tensor& b) { return a + b; });
  gpu.row({"elementwise/add",
           3 * kGigabytes,
           "GB/s",
           [&] { return add(x, y); },
           {line, line},
           "x[0] + x[1]"},
          copy);
  pass(
      "elementwise/gelu", 2, x, [](const Tensor& a) { return a.gelu(); },
      "F.gelu(x[0], approximate='tanh')");
  pass(
      "softmax/rows of 4096", 2, m, [](const Tensor& a) { return a.softmax(); },
      "x[0].softmax(-1)");
  pass(
      "norm/layer_norm", 2, m, [](const Tensor& a) { return a.layer_norm(); },
      "F.layer_norm(x[0], (4096,))");
  pass(
      "transpose/4096 columns", 2, m, [](const Tensor& a) { return a.matrix_transpose() + 0.5; },
      "(x[0].t() + 0.5).contiguous()");
  pass(
      "sum/over rows", 1, m, [](const Tensor& a) { return a.sum(0); }, "x[0].sum(0)");
  pass(
      "sum/of all", 1, x, [](const Tensor& a) { return a.sum(); }, "x[0].sum()");
}

void bench_products(const Gpu& gpu) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    const auto product = compile([](const Tensor& a, const Tensor& b) { return a.matmul(b); });
    for (const int64_t n : {256, 1024, 4096, 8192}) {
      const Tensor a = gpu.drawn({n, n}, 3, dtype), b = gpu.drawn({n, n}, 4, dtype);
      const auto size = static_cast<double>(n);
      gpu.row({fmt::format("sgemm/{} {}", dtype_name(dtype), n),
               2e-12 * size * size * size,
               "TFLOP/s",
               [&] { return product(a, b); },
               {{n, n}, {n, n}},
               "x[0] @ x[1]",
               dtype});
    }
  }
}

void bench_attention(const Gpu& gpu) {
  constexpr int64_t kHeads = 16, kTokens = 2048, kHead = 64;
  const std::vector<int64_t> shape{kHeads, kTokens, kHead};
  const Tensor q = gpu.drawn(shape, 5, DType::kF16), k = gpu.drawn(shape, 6, DType::kF16),
               v = gpu.drawn(shape, 7, DType::kF16);
  const auto attention = compile([](const Tensor& a, const Tensor& b, const Tensor& c) {
    return (a.matmul(b.transpose()) * 0.125).softmax().matmul(c);
  });
  Work work{"attention/f16",
            4e-12 * kHeads * kTokens * kTokens * kHead,
            "TFLOP/s",
            [&] { return attention(q, k, v); },
            {shape, shape, shape},
            "((x[0] @ x[1].swapaxes(-1, -2)) * 0.125).softmax(-1) @ x[2]",
            DType::kF16};
  gpu.row(work);
  work.what = "attention/f16, beside one call";
  work.torch = "F.scaled_dot_product_attention(x[0][None], x[1][None], x[2][None])";
  gpu.row(work);
}

}  // namespace

void bench_on_gpu(Suite& suite, PeerProcess* peers, const std::string& id, const std::string& gpu) {
  ContextOptions options;
  options.devices = id;
  options.disk_cache = false;
  Context context(options);
  const Gpu on{suite, peers, context, id, gpu};
  bench_passes(on);
  bench_products(on);
  bench_attention(on);
  const Tensor few = on.drawn({1024}, 8);
  const auto next = compile([](const Tensor& a) { return a + 1.0; });
  on.row({"launch/calls of one kernel",
          1e-3,
          "thousand/s",
          [&] { return next(few); },
          {{1024}},
          "x[0] + 1"});
}

}  // namespace tenon::bench
