// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients and steps of training through the tensor API, on one thread: beside the forward pass,
// and beside the bars that were set for them.
#include <fmt/format.h>

#include <cmath>

#include "core/autodiff/autodiff.hpp"
#include "core/ir/text/text.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

using Tensors = std::vector<Tensor>;

Context& single_thread() {
  static Context* const context = [] {
    ContextOptions options;
    options.devices = "cpu@threads=1";
    options.disk_cache = false;
    return new Context(options);
  }();
  return *context;
}

void finish(const Tensors& tensors) {
  realize(tensors);
  runtime_of(tensors[0].context()).device().synchronize();
}

Tensor weights(std::vector<int64_t> shape, uint64_t seed, Context& context) {
  const double scale = 1 / std::sqrt(static_cast<double>(shape[0]));
  return (normal(Key(seed, context), std::move(shape)) * scale);
}

/// A loss of weights and one input, and what it is called with.
struct Model {
  std::function<Tensor(const Tensors& w, const Tensor& x)> loss;
  Tensors w;
  Tensor x;
};

Model perceptron(Context& context) {
  Model m{{}, {}, normal(Key(1, context), {128, 784})};
  const std::vector<int64_t> sizes{784, 512, 512, 10};
  for (size_t l = 0; l + 1 < sizes.size(); ++l) {
    m.w.push_back(weights({sizes[l], sizes[l + 1]}, 10 + l, context));
    m.w.push_back(zeros({sizes[l + 1]}, DType::kF32, context) + 0.0);
  }
  m.loss = [](const Tensors& w, const Tensor& x) {
    Tensor h = x;
    for (size_t l = 0; l < w.size(); l += 2) {
      h = h.matmul(w[l]) + w[l + 1];
      if (l + 2 < w.size()) h = h.relu();
    }
    return log_softmax(h).square().mean();
  };
  return m;
}

constexpr int64_t kTrainWidth = 128, kTrainHeads = 4;
constexpr size_t kOfBlock = 4;

Tensor block(const Tensor& x, const Tensors& w, size_t first) {
  const int64_t tokens = x.size(0), head = kTrainWidth / kTrainHeads;
  const auto heads = [&](const Tensor& all, int64_t part) {
    return all.slice({{}, Slice{part * kTrainWidth, (part + 1) * kTrainWidth}})
        .reshape({tokens, kTrainHeads, head})
        .transpose({1, 0, 2});
  };
  const Tensor all = x.layer_norm().matmul(w[first]);
  const Tensor scores =
      heads(all, 0).matmul(heads(all, 1).matrix_transpose()) * (1 / std::sqrt(head));
  const Tensor mixed =
      scores.softmax().matmul(heads(all, 2)).transpose({1, 0, 2}).reshape({tokens, kTrainWidth});
  const Tensor y = x + mixed.matmul(w[first + 1]);
  return y + y.layer_norm().matmul(w[first + 2]).gelu().matmul(w[first + 3]);
}

Model transformer(int blocks, bool checkpointed, Context& context) {
  Model m{{}, {}, normal(Key(1, context), {256, kTrainWidth})};
  for (int b = 0; b < blocks; ++b) {
    const auto seed = static_cast<uint64_t>(100 + 10 * b);
    m.w.push_back(weights({kTrainWidth, 3 * kTrainWidth}, seed, context));
    m.w.push_back(weights({kTrainWidth, kTrainWidth}, seed + 1, context));
    m.w.push_back(weights({kTrainWidth, 4 * kTrainWidth}, seed + 2, context));
    m.w.push_back(weights({4 * kTrainWidth, kTrainWidth}, seed + 3, context));
  }
  m.loss = [checkpointed](const Tensors& w, const Tensor& x) {
    Tensor h = x;
    for (size_t first = 0; first < w.size(); first += kOfBlock) {
      if (!checkpointed) {
        h = block(h, w, first);
        continue;
      }
      Tensors inputs{h};
      inputs.insert(inputs.end(), w.begin() + static_cast<std::ptrdiff_t>(first),
                    w.begin() + static_cast<std::ptrdiff_t>(first + kOfBlock));
      h = checkpoint([](const Tensors& in) {
        return Tensors{block(in[0], {in.begin() + 1, in.end()}, 0)};
      })(inputs)[0];
    }
    return h.square().mean();
  };
  return m;
}

Tensors value_and_grads(const Model& m) {
  ValueAndGrad out = value_and_grad([&](const Tensors& w) { return m.loss(w, m.x); })(m.w);
  out.gradients.push_back(out.value);
  return std::move(out.gradients);
}

/// What is wrong with a gradient, by a difference along it; or "".
std::string fault(const Model& m) {
  const Tensors g = value_and_grads(m);
  double slope = 0;
  Tensors moved;
  for (size_t i = 0; i < m.w.size(); ++i) slope += g[i].square().sum().item<float>();
  const double step = 1e-2 / std::sqrt(slope);
  std::vector<double> at;
  for (const double sign : {1.0, -1.0}) {
    moved.clear();
    for (size_t i = 0; i < m.w.size(); ++i) moved.push_back(m.w[i] + g[i] * (sign * step));
    at.push_back(m.loss(moved, m.x).item<float>());
  }
  const double difference = (at[0] - at[1]) / (2 * step);
  return std::abs(difference - slope) < 0.03 * slope
             ? ""
             : fmt::format("expected a slope of {:.4g}, got {:.4g}", difference, slope);
}

/// Runs forward and whole pass in turns.
void bench_backward(Suite& suite, const std::string& name, const Model& m) {
  if (!suite.wanted(name)) return;
  finish(m.w);
  finish({m.x});
  const auto forward = compile([&](const Tensors& w, const Tensor& x) { return m.loss(w, x); });
  const auto whole = compile([&](const Tensors& w, const Tensor& x) {
    return value_and_grads({m.loss, w, x});
  });
  const auto timings =
      measure({[&] { finish({forward(m.w, m.x)}); }, [&] { finish(whole(m.w, m.x)); }});
  Row row;
  row.name = name;
  row.unit = "times the forward's";
  row.ours = (timings[1].seconds - timings[0].seconds) / timings[0].seconds;
  row.peer = 2.2;
  row.peer_name = "bar";
  row.ratio = ratio_of(row.ours, row.peer, true);
  row.spread = timings[1].spread;
  row.wrong = fault(m);
  suite.add(std::move(row));
}

RunStats stats_of(const Tensors& tensors) {
  Context& context = tensors[0].context();
  std::vector<NodeRef> nodes;
  for (const Tensor& x : tensors) nodes.push_back(node_of(x));
  const Collected collected = collect(builder_of(context), nodes);
  RunStats stats;
  runtime_of(context).run(collected.graph, collected.inputs, {}, &stats);
  return stats;
}

Row plain_bar(const std::string& name, double ours, const std::string& unit, double bar) {
  Row row;
  row.name = name;
  row.ours = ours;
  row.unit = unit;
  row.peer = bar;
  row.peer_name = "bar";
  row.ratio = ratio_of(ours, bar, true);
  return row;
}

/// One plan for batches of all sizes, beside the plan of one size.
void bench_symbol(Suite& suite) {
  const std::string name = "models/perceptron and its gradient, rows a symbol";
  if (!suite.wanted(name)) return;
  const Model fixed = perceptron(single_thread());
  finish(fixed.w);
  finish({fixed.x});
  const Model symbolic{fixed.loss, fixed.w, fixed.x.with_size(0, Size::symbol("n", 1, 1 << 16))};
  const auto whole = compile([&](const Tensors& w, const Tensor& x) {
    return value_and_grads({fixed.loss, w, x});
  });
  const auto timings = measure(
      {[&] { finish(whole(symbolic.w, symbolic.x)); }, [&] { finish(whole(fixed.w, fixed.x)); }});
  Row row;
  row.name = name;
  row.unit = "ms";
  row.ours = timings[0].seconds * 1e3;
  row.peer = timings[1].seconds * 1e3;
  row.peer_name = "128 rows, fixed";
  row.ratio = ratio_of(row.ours, row.peer, true);
  row.spread = timings[0].spread;
  row.wrong = fault(symbolic);
  suite.add(std::move(row));
}

void bench_checkpoint(Suite& suite) {
  const std::string memory = "models/checkpoint of 12 blocks, memory",
                    time = "models/checkpoint of 12 blocks, time";
  if (!suite.wanted(memory) && !suite.wanted(time)) return;
  const Model plain = transformer(12, false, single_thread());
  Model saving = transformer(12, true, single_thread());
  finish(plain.w);
  finish({plain.x});
  saving.w = plain.w;
  saving.x = plain.x;
  const double share = static_cast<double>(stats_of(value_and_grads(saving)).arena_bytes) /
                       static_cast<double>(stats_of(value_and_grads(plain)).arena_bytes);
  const auto passes = [](const Model& m) {
    return compile([&m](const Tensors& w, const Tensor& x) {
      return value_and_grads({m.loss, w, x});
    });
  };
  const auto with = passes(saving), without = passes(plain);
  const auto timings = measure(
      {[&] { finish(with(plain.w, plain.x)); }, [&] { finish(without(plain.w, plain.x)); }});
  Row row = plain_bar(memory, share, "of that without", 0.45);
  row.wrong = fault(saving);
  if (suite.wanted(memory)) suite.add(std::move(row));
  if (suite.wanted(time))
    suite.add(plain_bar(time, timings[0].seconds / timings[1].seconds, "of that without", 1.35));
}

/// Bytes that the device was asked for, for the gradient through n steps over 1 MiB each.
double loop_bytes(int n, std::string& wrong) {
  const std::string text = fmt::format(R"(graph f(%x: f32[262144]) {{
  graph body(%i: i64[], %a: f32[262144]) {{
    %b = sin %a
    return %b
  }}
  %n = const {} : i64[]
  %y = loop %n, %x, body=body, carried=1
  %s = reduce.add %y, axes=[0]
  return %s
}})",
                                       n);
  RuntimeOptions options;
  options.devices = "cpu@threads=1";
  options.disk_cache = false;
  Runtime runtime(options);
  const std::string wrt = "x";
  GradientOptions segments;
  segments.kept_bytes = 0;
  const Graph graph = gradient_graph(parse_graph(text, runtime.builder()), 0, {&wrt, 1},
                                     runtime.builder(), segments);
  std::vector<float> values(262144, 1.0F);
  const std::vector<BufferRef> out = runtime.run(graph, {to_device(runtime, values)});
  const float got = to_host(out[1], 1)[0];
  double x = 1, slope = 1;
  for (int i = 0; i < n; ++i) {
    slope *= std::cos(x);
    x = std::sin(x);
  }
  if (std::abs(got - slope) > 1e-4 * slope)
    wrong = fmt::format("expected a slope of {:.6g}, got {:.6g}", slope, static_cast<double>(got));
  return static_cast<double>(runtime.device().bytes_reserved());
}

void bench_loop(Suite& suite) {
  const std::string name = "models/gradient of 512 steps in segments, memory";
  if (!suite.wanted(name)) return;
  std::string wrong;
  const double few = loop_bytes(128, wrong), many = loop_bytes(512, wrong);
  Row row = plain_bar(name, many / few, "of that of 128", 2.2);
  row.wrong = wrong;
  suite.add(std::move(row));
  suite.add(
      plain_bar("models/gradient of 512 steps in segments, states", many / (1 << 20), "MiB", 512));
}

void bench_put(Suite& suite) {
  const std::string name = "launch/a row into 16 MiB that are donated";
  if (!suite.wanted(name)) return;
  Context& context = single_thread();
  constexpr int64_t kRows = 1 << 14, kColumns = 256;
  const auto put = compile(
      [](const Tensor& rows, const Tensor& at, const Tensor& row) {
        return rows.scatter(0, at.reshape({1, 1}).broadcast_to({1, kColumns}), row);
      },
      {.name = "put", .donate = {0}});
  Tensor rows = zeros({kRows, kColumns}, DType::kF32, context);
  const Tensor row = ones({1, kColumns}, DType::kF32, context);
  finish({rows});
  finish({row});
  int64_t at = 0;
  const auto timings = measure({[&] {
    rows = put(rows, at++ % kRows, row);
    finish({rows});
  }});
  Row out = against_bar(name, timings[0], 1e6, "us", 10);
  if (rows.sum().item<float>() != static_cast<float>(std::min(at, kRows) * kColumns))
    out.wrong = "rows are missing";
  suite.add(std::move(out));
}

void bench_trace(Suite& suite) {
  const std::string name = "models/12 blocks and their gradient, traced";
  if (!suite.wanted(name)) return;
  Context& context = single_thread();
  const Model m = transformer(12, false, context);
  finish(m.w);
  finish({m.x});
  const auto timings = measure({[&] { value_and_grads(m); }});
  suite.add(against_bar(name, timings[0], 1e3, "ms", 10));
}

}  // namespace

std::string transformer_fault() {
  const Model m = transformer(12, false, Context::standard());
  const Tensors out = value_and_grads(m);
  realize(out);
  const float loss = out.back().item<float>();
  return std::isfinite(loss) ? "" : fmt::format("expected a loss, got {}", loss);
}

void bench_training(Suite& suite) {
  bench_backward(suite, "models/perceptron of 3 layers, backward", perceptron(single_thread()));
  bench_backward(suite, "models/transformer of 4 blocks, backward",
                 transformer(4, false, single_thread()));
  bench_symbol(suite);
  bench_checkpoint(suite);
  bench_loop(suite);
  bench_put(suite);
  bench_trace(suite);
}

}  // namespace tenon::bench
