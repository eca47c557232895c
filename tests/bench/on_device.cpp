// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes over 256 MiB, products and single launches through the tensor API on a GPU, passes beside
// a copy on it. peers/gpu.py runs the same through PyTorch.
#include <fmt/format.h>

#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

constexpr int64_t kCount = 1 << 26;
constexpr double kGigabytes = 4e-9 * kCount;  ///< of one tensor

struct Gpu {
  Suite& suite;
  Context& context;
  std::string id;

  Device& device() const { return runtime_of(context).device(); }
  Tensor made(Tensor x) const {
    Tensor::realize({x});
    return x;
  }
  Tensor drawn(std::vector<int64_t> shape, uint64_t seed) const {
    return made(Tensor::randn(std::move(shape), seed, context));
  }

  /// `work` is what one call moves or computes, in `unit` seconds.
  void row(const std::string& what, double work, const std::string& unit,
           const std::function<Tensor()>& call, const std::function<void()>& copy = {}) const {
    const std::string name = fmt::format("{} on {}", what, id);
    if (!suite.wanted(name)) return;
    // A call alone would be timed with the wait for it.
    constexpr int kCalls = 10;
    std::vector<std::function<void()>> contenders{[&] {
      for (int i = 0; i < kCalls; ++i) Tensor::realize({call()});
      device().synchronize();
    }};
    if (copy)
      contenders.emplace_back([&] {
        for (int i = 0; i < kCalls; ++i) copy();
        device().synchronize();
      });
    const std::vector<Timing> timings = measure(contenders);
    Row row;
    row.name = name;
    row.ours = kCalls * work / timings[0].seconds;
    row.unit = unit;
    row.spread = timings[0].spread;
    row.peer_name = "peers/gpu.py";
    if (copy) row.limit_ratio = row.ours / (kCalls * 2 * kGigabytes / timings[1].seconds);
    suite.add(std::move(row));
  }
};

void bench_passes(const Gpu& gpu) {
  const Tensor x = gpu.drawn({kCount}, 1), y = gpu.drawn({kCount}, 2);
  const Tensor m = gpu.made(x.reshape({16384, 4096}));
  const BufferRef from = gpu.device().allocate(4 * kCount), to = gpu.device().allocate(4 * kCount);
  const auto copy = [&] { gpu.device().copy(*from, 0, *to, 0, 4 * kCount); };
  const auto pass = [&](const char* name, double tensors, const Tensor& of, const auto& f) {
    const auto g = compile(f);
    gpu.row(
        name, tensors * kGigabytes, "GB/s", [&] { return g(of); }, copy);
  };
  const auto add = compile([](const Tensor& a, const Tensor& b) { return a + b; });
  gpu.row(
      "elementwise/add", 3 * kGigabytes, "GB/s", [&] { return add(x, y); }, copy);
  pass("elementwise/gelu", 2, x, [](const Tensor& a) { return a.gelu(); });
  pass("softmax/rows of 4096", 2, m, [](const Tensor& a) { return a.softmax(); });
  pass("norm/layer_norm", 2, m, [](const Tensor& a) { return a.layer_norm(); });
  pass("transpose/4096 columns", 2, m, [](const Tensor& a) { return a.transpose() + 0.5; });
  pass("sum/over rows", 1, m, [](const Tensor& a) { return a.sum({0}); });
  pass("sum/of all", 1, x, [](const Tensor& a) { return a.sum(); });
}

void bench_products(const Gpu& gpu) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    const auto product = compile([](const Tensor& a, const Tensor& b) { return a.matmul(b); });
    for (const int64_t n : {256, 1024, 4096, 8192}) {
      const Tensor a = gpu.made(gpu.drawn({n, n}, 3).cast(dtype));
      const Tensor b = gpu.made(gpu.drawn({n, n}, 4).cast(dtype));
      const auto size = static_cast<double>(n);
      gpu.row(fmt::format("sgemm/{} {}", dtype_name(dtype), n), 2e-12 * size * size * size,
              "TFLOP/s", [&] { return product(a, b); });
    }
  }
  constexpr int64_t kHeads = 16, kTokens = 2048, kHead = 64;
  const auto part = [&](uint64_t seed) {
    return gpu.made(gpu.drawn({kHeads, kTokens, kHead}, seed).cast(DType::kF16));
  };
  const Tensor q = part(5), k = part(6), v = part(7);
  const auto attention = compile([](const Tensor& a, const Tensor& b, const Tensor& c) {
    return (a.matmul(b.transpose()) * 0.125).softmax().matmul(c);
  });
  gpu.row("attention/f16", 4e-12 * kHeads * kTokens * kTokens * kHead, "TFLOP/s",
          [&] { return attention(q, k, v); });
}

}  // namespace

void bench_on_gpu(Suite& suite, const std::string& id) {
  ContextOptions options;
  options.devices = id;
  options.disk_cache = false;
  Context context(options);
  const Gpu gpu{suite, context, id};
  bench_passes(gpu);
  bench_products(gpu);
  const Tensor few = gpu.drawn({1024}, 8);
  const auto next = compile([](const Tensor& a) { return a + 1.0; });
  gpu.row("launch/calls of one kernel", 1e-3, "thousand/s", [&] { return next(few); });
}

}  // namespace tenon::bench
