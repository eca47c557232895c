// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/workloads.hpp"

#include <fmt/format.h>

#include "tenon/gradient.hpp"
#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"

namespace tenon::bench {
namespace {

using Inputs = std::vector<Tensor>;

/// a @ b of [m, k] and [k, n], or of [n, k] where it is transposed.
Workload product(const std::string& group, const std::string& size, int64_t m, int64_t n, int64_t k,
                 bool is_transposed = false) {
  Workload w;
  w.name = fmt::format("{}/{}", group, size);
  w.shapes = {{m, k}, is_transposed ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}};
  w.work = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  w.bound = Bound::kArithmetic;
  w.ours = [is_transposed](const Inputs& x) {
    return x[0].matmul(is_transposed ? x[1].transpose() : x[1]);
  };
  w.torch = w.tinygrad = is_transposed ? "x[0] @ x[1].T" : "x[0] @ x[1]";
  w.onednn = fmt::format("torch.ops.mkldnn._linear_pointwise(x[0], x[1]{}, None, 'none', [], '')",
                         is_transposed ? "" : ".T");
  w.is_sgemm = !is_transposed;
  return w;
}

/// Few rows: what counts is the matrix that is read.
Workload few_rows(int64_t rows, bool is_transposed) {
  Workload w = product("gemv", fmt::format("{}x4096x4096{}", rows, is_transposed ? "t" : ""), rows,
                       4096, 4096, is_transposed);
  w.work = 4.0 * 4096 * 4096;
  w.bound = Bound::kRead;
  return w;
}

/// A pass over f32 elements, each read or written so many times.
Workload pass(std::string name, std::vector<std::vector<int64_t>> shapes, double elements,
              std::function<Tensor(const Inputs&)> ours, std::string torch,
              std::string tinygrad = "") {
  Workload w;
  w.name = std::move(name);
  w.shapes = std::move(shapes);
  w.work = 4 * elements;
  w.ours = std::move(ours);
  w.torch = std::move(torch);
  w.tinygrad = std::move(tinygrad);
  return w;
}

/// `channels` to `outputs` by a square window over `size` x `size`, padded to stay as large.
Workload convolution(const std::string& name, int64_t images, int64_t channels, int64_t outputs,
                     int64_t size, int64_t window, int64_t groups = 1) {
  Workload w;
  w.name = "conv/" + name;
  w.shapes = {{images, channels, size, size}, {outputs, channels / groups, window, window}};
  w.work = 2.0 * static_cast<double>(images * outputs * size * size) *
           static_cast<double>(channels / groups * window * window);
  w.bound = Bound::kArithmetic;
  const int64_t edge = window / 2;
  w.ours = [edge, groups](const Inputs& x) {
    const std::pair<int64_t, int64_t> none{0, 0}, around{edge, edge};
    return nn::conv(edge == 0 ? x[0] : x[0].pad({none, none, around, around}), x[1], {1, 1}, {1, 1},
                    groups);
  };
  w.torch = fmt::format("F.conv2d(x[0], x[1], padding={}, groups={})", edge, groups);
  w.tinygrad = fmt::format("x[0].conv2d(x[1], padding={}, groups={})", edge, groups);
  return w;
}

/// By operand 0 or 1 of a convolution that has one group, for a third operand that came back.
Workload gradient_of(Workload w, size_t operand) {
  const auto forward = std::move(w.ours);
  const int64_t edge = w.shapes[1][2] / 2;
  w.name += operand == 0 ? ", gradient of the image" : ", gradient of the weights";
  w.shapes.push_back({w.shapes[0][0], w.shapes[1][0], w.shapes[0][2], w.shapes[0][3]});
  w.ours = [forward, operand](const Inputs& x) {
    return gradient(forward({x[0], x[1]}), {x[operand]}, x[2])[0];
  };
  w.torch = operand == 0 ? "torch.nn.grad.conv2d_input(x[0].shape, x[1], x[2], "
                         : "torch.nn.grad.conv2d_weight(x[0], x[1].shape, x[2], ";
  w.torch += fmt::format("padding={})", edge);
  w.tinygrad = "";
  return w;
}

void add_convolutions(std::vector<Workload>& all) {
  for (const Workload& w : {convolution("3x3, 16x32x32x32 to 64", 16, 32, 64, 32, 3),
                            convolution("3x3, 8x64x56x56 to 64", 8, 64, 64, 56, 3),
                            convolution("3x3, 8x256x14x14 to 256", 8, 256, 256, 14, 3),
                            convolution("3x3, 8x512x7x7 to 512", 8, 512, 512, 7, 3),
                            convolution("1x1, 8x256x28x28 to 64", 8, 256, 64, 28, 1)}) {
    all.push_back(w);
    all.push_back(gradient_of(w, 0));
    all.push_back(gradient_of(w, 1));
  }
  all.push_back(convolution("3x3 of each of 8x64x56x56", 8, 64, 64, 56, 3, 64));
}

Workload attention(int64_t heads, int64_t tokens, bool is_causal) {
  Workload w;
  w.name = fmt::format("attention/{}x{}x64{}", heads, tokens, is_causal ? ", causal" : "");
  w.shapes.assign(3, {1, heads, tokens, 64});
  w.work = 4.0 * static_cast<double>(heads * tokens) * static_cast<double>(tokens) * 64;
  if (is_causal) w.work /= 2;
  w.bound = Bound::kArithmetic;
  w.ours = [is_causal](const Inputs& x) {
    return nn::attention(x[0], x[1], x[2], {.causal = is_causal});
  };
  w.torch = fmt::format("F.scaled_dot_product_attention(x[0], x[1], x[2], is_causal={})",
                        is_causal ? "True" : "False");
  w.tinygrad = fmt::format("x[0].scaled_dot_product_attention(x[1], x[2], is_causal={})",
                           is_causal ? "True" : "False");
  return w;
}

void add_products(std::vector<Workload>& all) {
  for (const int64_t n : {64, 128, 256, 512, 1024, 2048, 4096})
    all.push_back(product("sgemm", fmt::format("{}", n), n, n, n));
  all.push_back(product("sgemm", "1000x777x555", 1000, 777, 555));
  all.push_back(product("sgemm", "1024t", 1024, 1024, 1024, true));
  all.push_back(product("sgemm", "512x512x8192", 512, 512, 8192));
  for (const int64_t rows : {1, 2, 4, 8, 16})
    for (const bool is_transposed : {false, true}) all.push_back(few_rows(rows, is_transposed));
  Workload batched = product("batched", "96x128x64x128", 128, 128, 64);
  batched.shapes = {{96, 128, 64}, {96, 64, 128}};
  batched.work *= 96;
  batched.onednn = "";
  batched.is_sgemm = false;
  all.push_back(std::move(batched));
  for (const int64_t n : {512, 1024}) {
    Workload narrow = product("bf16", fmt::format("{}", n), n, n, n);
    narrow.dtype = DType::kBF16;
    narrow.onednn = "";  // what PyTorch asks by itself
    narrow.is_sgemm = false;
    narrow.tolerance = 2e-2;
    all.push_back(std::move(narrow));
    Workload whole = product("i8", fmt::format("{}", n), n, n, n);
    whole.dtype = DType::kI8;
    whole.onednn = "";
    whole.is_sgemm = false;
    whole.ours = [](const Inputs& x) {
      return x[0].cast(DType::kI32).matmul(x[1].cast(DType::kI32));
    };
    whole.torch = "torch._int_mm(x[0], x[1])";
    whole.tinygrad = "x[0].matmul(x[1], dtype=dtypes.int)";
    whole.tolerance = 0;
    all.push_back(std::move(whole));
  }
}

void add_passes(std::vector<Workload>& all) {
  const double m = 4096.0 * 1024, n = 4096.0 * 4096;
  const std::vector<std::vector<int64_t>> rows{{4096, 1024}};
  all.push_back(pass(
      "softmax/4096x1024", rows, 2 * m, [](const Inputs& x) { return x[0].softmax(); },
      "x[0].softmax(-1)", "x[0].softmax(-1)"));
  all.push_back(pass(
      "norm/layer, 4096x1024", rows, 2 * m, [](const Inputs& x) { return x[0].layer_norm(); },
      "F.layer_norm(x[0], (1024,))", "x[0].layernorm()"));
  all.push_back(pass(
      "elementwise/gelu, 4096x1024", rows, 2 * m, [](const Inputs& x) { return x[0].gelu(); },
      "F.gelu(x[0], approximate='tanh')", "x[0].gelu()"));
  all.push_back(pass(
      "elementwise/add, 4096x1024", {{4096, 1024}, {4096, 1024}}, 3 * m,
      [](const Inputs& x) { return x[0] + x[1]; }, "x[0] + x[1]", "x[0] + x[1]"));
  all.push_back(pass(
      "transpose/4096x4096", {{4096, 4096}}, 2 * n,
      [](const Inputs& x) { return x[0].transpose() + 0.5; }, "x[0].T.contiguous() + 0.5",
      "x[0].T + 0.5"));
  all.push_back(pass(
      "sum/all of 4096x4096", {{4096, 4096}}, n, [](const Inputs& x) { return x[0].sum(); },
      "x[0].sum()", "x[0].sum()"));
  all.back().bound = Bound::kRead;
  all.push_back(pass(
      "sum/rows of 4096x4096", {{4096, 4096}}, n, [](const Inputs& x) { return x[0].sum({1}); },
      "x[0].sum(1)", "x[0].sum(1)"));
  all.back().bound = Bound::kRead;
  all.push_back(pass(
      "sum/columns of 4096x4096", {{4096, 4096}}, n, [](const Inputs& x) { return x[0].sum({0}); },
      "x[0].sum(0)", "x[0].sum(0)"));
  all.back().bound = Bound::kRead;
  all.push_back(pass(
      "scan/rows of 512x1024", {{512, 1024}}, 2 * 512.0 * 1024,
      [](const Inputs& x) { return cumsum(x[0], 1); }, "x[0].cumsum(1)", "x[0].cumsum(1)"));
  all.push_back(pass(
      "sort/2^20", {{1 << 20}}, 2.0 * (1 << 20), [](const Inputs& x) { return sort(x[0]); },
      "x[0].sort().values"));
  all.push_back(pass(
      "sort/argmax of 4096x1024", rows, m,
      [](const Inputs& x) { return x[0].argmax(1).cast(DType::kF32); }, "x[0].argmax(1).float()",
      "x[0].argmax(1).float()"));
  all.back().bound = Bound::kRead;
  all.push_back(pass(
      "pool/2x2 of 16x64x56x56", {{16, 64, 56, 56}}, 1.25 * 16 * 64 * 56 * 56,
      [](const Inputs& x) {
        return nn::max_pool(x[0], {2, 2});
      },
      "F.max_pool2d(x[0], 2)", "x[0].max_pool2d((2, 2))"));
}

}  // namespace

std::vector<Workload> workloads() {
  std::vector<Workload> all;
  add_products(all);
  add_convolutions(all);
  all.push_back(attention(8, 512, false));
  all.push_back(attention(8, 512, true));
  all.push_back(attention(8, 2048, true));
  for (const bool is_causal : {false, true}) {
    all.push_back(attention(8, 4096, is_causal));
    all.push_back(attention(1, 16384, is_causal));
  }
  add_passes(all);
  return all;
}

}  // namespace tenon::bench
