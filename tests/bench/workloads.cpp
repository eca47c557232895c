// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/workloads.hpp"

#include <fmt/format.h>

#include "tenon/formats/quantised.hpp"
#include "tenon/gradient.hpp"
#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"

namespace tenon::bench {
namespace {

using Inputs = std::vector<Tensor>;

enum class Across { kNone, kB, kA, kBoth };  ///< which operand of a product lies transposed

/// a @ b of [m, k] and [k, n], or of [k, m] and [n, k] where they are transposed.
Workload product(const std::string& group, const std::string& size, int64_t m, int64_t n, int64_t k,
                 Across across = Across::kNone) {
  const bool a = across == Across::kA || across == Across::kBoth;
  const bool b = across == Across::kB || across == Across::kBoth;
  Workload w;
  w.name = fmt::format("{}/{}", group, size);
  w.shapes = {a ? std::vector<int64_t>{k, m} : std::vector<int64_t>{m, k},
              b ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}};
  w.work = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  w.bound = Bound::kArithmetic;
  w.ours = [a, b](const Inputs& x) {
    return (a ? x[0].matrix_transpose() : x[0]).matmul(b ? x[1].matrix_transpose() : x[1]);
  };
  w.torch = w.tinygrad = fmt::format("x[0]{} @ x[1]{}", a ? ".T" : "", b ? ".T" : "");
  w.onednn = fmt::format("torch.ops.mkldnn._linear_pointwise(x[0]{}, x[1]{}, None, 'none', [], '')",
                         a ? ".T" : "", b ? "" : ".T");
  w.is_sgemm = !a && !b;
  return w;
}

/// GELU of a product.
Workload gelu_of(Workload w) {
  w.name += ", gelu";
  w.ours = [product = w.ours](const Inputs& x) { return product(x).all[0].gelu(); };
  w.torch = fmt::format("F.gelu({}, approximate='tanh')", w.torch);
  w.tinygrad = fmt::format("({}).gelu()", w.tinygrad);
  w.onednn = "";
  w.is_sgemm = false;
  return w;
}

/// Few rows: what counts is the matrix that is read.
Workload few_rows(int64_t rows, bool is_transposed) {
  Workload w = product("gemv", fmt::format("{}x4096x4096{}", rows, is_transposed ? "t" : ""), rows,
                       4096, 4096, is_transposed ? Across::kB : Across::kNone);
  w.work = 4.0 * 4096 * 4096;
  w.bound = Bound::kRead;
  return w;
}

/// In blocks of 32 numbers of so many bits, as q8_0 and q4_0 are: a scale, then the numbers.
Tensor blocks_of(const Tensor& weights, int64_t bits) {
  const Tensor rows = weights.reshape({-1, formats::kBlockElements});
  const auto half = static_cast<double>(int64_t{1} << (bits - 1));
  const Tensor scale = (rows.abs().max(1, /*keepdims=*/true) / (half - 1)).astype(DType::kF16);
  const Tensor d = scale.bit_cast(DType::kU16);
  const Tensor q = (rows / scale.astype(DType::kF32) + 0.5).floor().astype(DType::kI32);
  std::vector<Tensor> parts{(d & 255).astype(DType::kU8), (d / 256).astype(DType::kU8)};
  if (bits == 8) {
    parts.push_back(q.astype(DType::kI8).bit_cast(DType::kU8));
  } else {
    const std::vector<Tensor> halves = split(q + 8, {16, 16}, 1);
    parts.push_back((halves[0] + halves[1] * 16).astype(DType::kU8));
  }
  return concatenate(parts, 1).ravel();
}

/// x[0] by the rows of x[1] in blocks of so many bits, which is what is read; the peer's are f32.
Workload by_blocks(int64_t rows, formats::BlockFormat format, int64_t bits) {
  constexpr int64_t kSize = 4096;
  Workload w = product("gemv", fmt::format("q{}_0 {}x{}x{}t", bits, rows, kSize, kSize), rows,
                       kSize, kSize, Across::kB);
  const int64_t bytes = kSize * kSize / formats::kBlockElements * formats::block_bytes(format);
  w.work = static_cast<double>(bytes);
  w.bound = Bound::kRead;
  w.tolerance = bits == 8 ? 1e-2 : 1e-1;
  w.prepare = [bits](const Inputs& x) { return Inputs{x[0], blocks_of(x[1], bits)}; };
  w.ours = [format](const Inputs& x) {
    return x[0].matmul(formats::dequantise(x[1], format, {kSize, kSize}).matrix_transpose());
  };
  w.tinygrad = "";
  return w;
}

/// A pass over f32 elements, each read or written so many times.
Workload pass(std::string name, std::vector<std::vector<int64_t>> shapes, double elements,
              std::function<Results(const Inputs&)> ours, std::string torch,
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
    return grad(forward({x[0], x[1]}).all[0], {x[operand]}, x[2]);
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

/// By heads that share keys; the queries may be few, as a model has them that writes word by word.
Workload attention_of(std::string name, int64_t heads, int64_t queries, int64_t groups,
                      int64_t keys, int64_t size, DType dtype = DType::kF32) {
  Workload w;
  w.name = "attention/" + std::move(name);
  w.dtype = dtype;
  w.shapes = {{1, heads, queries, size}, {1, groups, keys, size}, {1, groups, keys, size}};
  const bool reads = queries < 16;
  w.bound = reads ? Bound::kRead : Bound::kArithmetic;
  const int64_t each =
      reads ? 2 * groups * static_cast<int64_t>(dtype_size(dtype)) : 4 * heads * queries;
  w.work = static_cast<double>(each) * static_cast<double>(keys * size);
  if (dtype != DType::kF32) w.tolerance = 2e-2;
  w.ours = [](const Inputs& x) { return nn::attention(x[0], x[1], x[2]); };
  w.torch = "F.scaled_dot_product_attention(x[0], x[1], x[2], enable_gqa=True)";
  return w;
}

/// [n, positions, 3, heads, size], as a projection gives it.
Workload attention_of_one_buffer(int64_t heads, int64_t tokens) {
  Workload w = attention(heads, tokens, false);
  w.name += ", one buffer";
  w.shapes = {{1, tokens, 3, heads, 64}};
  w.ours = [](const Inputs& x) {
    const auto part = [&](int64_t i) { return x[0].take(i, 2).swapaxes(1, 2); };
    return nn::attention(part(0), part(1), part(2));
  };
  w.torch = "F.scaled_dot_product_attention(*x[0].transpose(2, 0, 3, 1, 4).unbind(0))";
  w.tinygrad = "";
  return w;
}

/// The result's gradients by queries, keys and values, for a fourth operand that came back.
Workload gradient_of_attention(int64_t heads, int64_t tokens, bool is_causal) {
  Workload w = attention(heads, tokens, is_causal);
  const auto forward = std::move(w.ours);
  w.name += ", gradient";
  w.shapes.push_back(w.shapes[0]);
  w.work *= 3.5;  // seven products: the result is not there yet
  w.ours = [forward](const Inputs& x) {
    return stack(grad(forward({x[0], x[1], x[2]}).all[0], {x[0], x[1], x[2]}, x[3]), 0);
  };
  const char* causal = is_causal ? "True" : "False";
  w.torch = fmt::format(
      "(lambda o: torch.stack(torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward("
      "x[3], x[0], x[1], x[2], o[0], o[1], 0.0, {})))("
      "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(x[0], x[1], x[2], 0.0, {}))",
      causal, causal);
  w.tinygrad = "";
  return w;
}

void add_attention(std::vector<Workload>& all) {
  all.push_back(attention(8, 512, false));
  all.push_back(attention(8, 512, true));
  all.push_back(attention(8, 2048, true));
  for (const bool is_causal : {false, true}) {
    all.push_back(attention(8, 4096, is_causal));
    all.push_back(attention(1, 16384, is_causal));
    for (const int64_t tokens : {512, 1024, 2048, 4096})
      all.push_back(gradient_of_attention(8, tokens, is_causal));
  }
  all.push_back(attention_of_one_buffer(8, 1024));
  all.push_back(attention_of("8x1024x64, 2 heads of keys", 8, 1024, 2, 1024, 64));
  all.push_back(attention_of("8x1024x64, bf16", 8, 1024, 8, 1024, 64, DType::kBF16));
  all.push_back(attention_of("32x1 by 4096x128", 32, 1, 32, 4096, 128));
  for (const int64_t heads : {1, 2, 3})
    all.push_back(attention_of(fmt::format("{}x1 by 8192x128", heads), heads, 1, heads, 8192, 128));
  all.push_back(attention_of("32x1 by 4096x128, 8 heads of keys", 32, 1, 8, 4096, 128));
  all.push_back(attention_of("32x1 by 4096x128, bf16", 32, 1, 32, 4096, 128, DType::kBF16));
}

void add_products(std::vector<Workload>& all) {
  for (const int64_t n : {64, 128, 256, 512, 1024, 2048, 4096})
    all.push_back(product("sgemm", fmt::format("{}", n), n, n, n));
  all.push_back(product("sgemm", "1000x777x555", 1000, 777, 555));
  all.push_back(gelu_of(product("sgemm", "256x512x1024", 256, 512, 1024)));
  all.push_back(gelu_of(product("sgemm", "1024x1000x1024", 1024, 1000, 1024)));
  all.push_back(product("sgemm", "1024t", 1024, 1024, 1024, Across::kB));
  all.push_back(product("sgemm", "1024t of a", 1024, 1024, 1024, Across::kA));
  all.push_back(product("sgemm", "1024tt", 1024, 1024, 1024, Across::kBoth));
  all.push_back(product("sgemm", "512x512x2048t of a", 512, 512, 2048, Across::kA));
  all.push_back(product("sgemm", "512x512x8192", 512, 512, 8192));
  for (const int64_t rows : {1, 2, 4, 8, 16})
    for (const bool is_transposed : {false, true}) all.push_back(few_rows(rows, is_transposed));
  for (const int64_t rows : {1, 4, 16, 64}) {
    all.push_back(by_blocks(rows, formats::BlockFormat::kQ8_0, 8));
    all.push_back(by_blocks(rows, formats::BlockFormat::kQ4_0, 4));
  }
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
      return x[0].astype(DType::kI32).matmul(x[1].astype(DType::kI32));
    };
    whole.torch = "torch._int_mm(x[0], x[1])";
    whole.tinygrad = "x[0].matmul(x[1], dtype=dtypes.int)";
    whole.tolerance = 0;
    all.push_back(std::move(whole));
  }
}

/// Of labels in [0, 50257), by logits that a model of words gives; and by these alone.
void add_losses(std::vector<Workload>& all) {
  constexpr double kLogits = 512.0 * 50257;
  const std::vector<std::vector<int64_t>> shapes{{512, 50257}, {512}};
  const auto loss = [](const Inputs& x) {
    return nn::cross_entropy(x[0], ((x[1] + 1) * 25128).astype(DType::kI64));
  };
  const std::string labels = "((x[1] + 1) * 25128).long()";
  all.push_back(pass("softmax/cross-entropy 512x50257", shapes, kLogits, loss,
                     fmt::format("F.cross_entropy(x[0], {})", labels)));
  all.back().bound = Bound::kRead;
  all.push_back(pass(
      "softmax/cross-entropy 512x50257, gradient", shapes, 3 * kLogits,
      [loss](const Inputs& x) { return grad(loss(x), {x[0]}); },
      fmt::format("torch.func.grad(lambda l: F.cross_entropy(l, {}))(x[0])", labels)));
}

/// The result's gradients by x[0], by a weight for each column, and by a bias, for x[1] that came
/// back. Read are these two, written is one.
void add_norms(std::vector<Workload>& all) {
  const double m = 4096.0 * 1024;
  const auto rms = [](const Tensor& x, const Tensor* weight) {
    nn::RMSNorm norm(1024, {.epsilon = 1e-5, .weight = weight != nullptr});
    if (weight) *norm.weight = *weight;
    return norm(x);
  };
  all.push_back(pass(
      "norm/rms, 4096x1024", {{4096, 1024}}, 2 * m,
      [rms](const Inputs& x) { return rms(x[0], nullptr); },
      "F.rms_norm(x[0], (1024,), eps=1e-5)"));
  all.push_back(pass(
      "norm/layer, 4096x1024, gradient", {{4096, 1024}, {4096, 1024}, {1024}, {1024}}, 3 * m,
      [](const Inputs& x) {
        return grad(x[0].layer_norm() * x[2] + x[3], {x[0], x[2], x[3]}, x[1]);
      },
      "torch.func.vjp(lambda a, w, b: F.layer_norm(a, (1024,), w, b), x[0], x[2], x[3])[1](x[1])"));
  all.push_back(pass(
      "norm/rms, 4096x1024, gradient", {{4096, 1024}, {4096, 1024}, {1024}}, 3 * m,
      [rms](const Inputs& x) {
        return grad(rms(x[0], &x[2]), {x[0], x[2]}, x[1]);
      },
      "torch.func.vjp(lambda a, w: F.rms_norm(a, (1024,), w, 1e-5), x[0], x[2])[1](x[1])"));
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
  add_norms(all);
  all.push_back(pass(
      "elementwise/gelu, 4096x1024", rows, 2 * m, [](const Inputs& x) { return x[0].gelu(); },
      "F.gelu(x[0], approximate='tanh')", "x[0].gelu()"));
  all.push_back(pass(
      "elementwise/add, 4096x1024", {{4096, 1024}, {4096, 1024}}, 3 * m,
      [](const Inputs& x) { return x[0] + x[1]; }, "x[0] + x[1]", "x[0] + x[1]"));
  all.push_back(pass(
      "transpose/4096x4096", {{4096, 4096}}, 2 * n,
      [](const Inputs& x) { return x[0].matrix_transpose() + 0.5; }, "x[0].T.contiguous() + 0.5",
      "x[0].T + 0.5"));
  all.push_back(pass(
      "sum/all of 4096x4096", {{4096, 4096}}, n, [](const Inputs& x) { return x[0].sum(); },
      "x[0].sum()", "x[0].sum()"));
  all.back().bound = Bound::kRead;
  all.push_back(pass(
      "sum/rows of 4096x4096", {{4096, 4096}}, n, [](const Inputs& x) { return x[0].sum(1); },
      "x[0].sum(1)", "x[0].sum(1)"));
  all.back().bound = Bound::kRead;
  all.push_back(pass(
      "sum/columns of 4096x4096", {{4096, 4096}}, n, [](const Inputs& x) { return x[0].sum(0); },
      "x[0].sum(0)", "x[0].sum(0)"));
  all.back().bound = Bound::kRead;
  all.push_back(pass(
      "scan/rows of 512x1024", {{512, 1024}}, 2 * 512.0 * 1024,
      [](const Inputs& x) { return cumsum(x[0], 1); }, "x[0].cumsum(1)", "x[0].cumsum(1)"));
  all.push_back(pass(
      "scan/rows of 4096x4096", {{4096, 4096}}, 2 * n,
      [](const Inputs& x) { return cumsum(x[0], 1); }, "x[0].cumsum(1)", "x[0].cumsum(1)"));
  all.push_back(pass(
      "scan/columns of 4096x4096", {{4096, 4096}}, 2 * n,
      [](const Inputs& x) { return cumsum(x[0], 0); }, "x[0].cumsum(0)", "x[0].cumsum(0)"));
  all.push_back(pass(
      "scan/2^22", {{1 << 22}}, 2.0 * (1 << 22), [](const Inputs& x) { return cumsum(x[0], 0); },
      "x[0].cumsum(0)", "x[0].cumsum(0)"));
  all.push_back(pass(
      "sort/top-k of 4096x1024", rows, m, [](const Inputs& x) { return topk(x[0], 16).values; },
      "x[0].topk(16, 1).values", "x[0].topk(16, 1)[0]"));
  all.push_back(pass(
      "sort/2^20", {{1 << 20}}, 2.0 * (1 << 20), [](const Inputs& x) { return sort(x[0]); },
      "x[0].sort().values"));
  all.push_back(pass(
      "sort/argmax of 4096x1024", rows, m,
      [](const Inputs& x) { return x[0].argmax(1).astype(DType::kF32); }, "x[0].argmax(1).float()",
      "x[0].argmax(1).float()"));
  all.back().bound = Bound::kRead;
  all.push_back(pass(
      "pool/2x2 of 16x64x56x56", {{16, 64, 56, 56}}, 1.25 * 16 * 64 * 56 * 56,
      [](const Inputs& x) {
        return nn::max_pool(x[0], {2, 2});
      },
      "F.max_pool2d(x[0], 2)", "x[0].max_pool2d((2, 2))"));
}

/// Of 8192 positions each the row of a table that it names.
Workload embedding() {
  return pass(
      "scatter/embedding, 8192 of 4096x256", {{4096, 256}, {8192}}, 256.0 * 2 * 8192,
      [](const Inputs& x) { return x[0].take(((x[1] + 1) * 2048).astype(DType::kI64), 0); },
      "F.embedding(((x[1] + 1) * 2048).long(), x[0])");
}

/// Rows of 8192 positions are added to those of a table that they name.
Workload embedding_gradient() {
  const double moved = 256.0 * (8192 + 2 * 4096);
  return pass(
      "scatter/embedding gradient, 8192 of 4096x256", {{8192, 256}, {8192}}, moved,
      [](const Inputs& x) {
        const Tensor ids = ((x[1] + 1) * 2048).astype(DType::kI64);
        const Tensor none = zeros({4096, 256}, DType::kF32, x[0].context());
        return none.scatter_add(0, ids.expand_dims(1).broadcast_to({8192, 256}), x[0]);
      },
      "torch.zeros(4096, 256).index_add(0, ((x[1] + 1) * 2048).long(), x[0])");
}

Workload solve_rows() {
  constexpr double kSize = 512;
  Workload w;
  w.name = "solve/512x512 by 512 columns";
  w.shapes = {{512, 512}, {512, 512}};
  w.work = (2.0 / 3 + 2) * kSize * kSize * kSize;
  w.bound = Bound::kArithmetic;
  w.ours = [](const Inputs& x) {
    return solve(x[0] + eye(512, {}, 0, DType::kF32, x[0].context()) * 32, x[1]);
  };
  w.torch = "torch.linalg.solve(x[0] + torch.eye(512) * 32, x[1])";
  w.tolerance = 1e-3;
  return w;
}

}  // namespace

std::vector<Workload> workloads() {
  std::vector<Workload> all;
  add_products(all);
  add_convolutions(all);
  add_attention(all);
  add_passes(all);
  add_losses(all);
  all.push_back(embedding());
  all.push_back(embedding_gradient());
  all.push_back(solve_rows());
  return all;
}

}  // namespace tenon::bench
