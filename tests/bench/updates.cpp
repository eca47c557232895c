// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An optimizer's update of many parameters: AdamW of a hundred tensors whose shapes differ.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

constexpr int kParameters = 100;
constexpr float kRate = 1e-3f, kDecay = 1e-2f;

Shape shape_of(int number, bool small) {
  const int64_t n = number / 5;
  if (small) {
    const std::array<Shape, 5> shapes{
        Shape{64 + n, 32}, {64 + n}, {16, 8 + n, 3, 3}, {16, n + 1}, {10 + n}};
    return shapes[static_cast<size_t>(number % 5)];
  }
  const std::array<Shape, 5> shapes{
      Shape{784, 128 + 16 * n}, {128 + 16 * n}, {64, 3 + n, 3, 3}, {256, 10 + n}, {10 + n}};
  return shapes[static_cast<size_t>(number % 5)];
}

/// Of the parameters from `first` to `end`, by numbers that say how far the means are from zero.
class Update {
 public:
  Update(Runtime& runtime, bool small, int first, int end) : b_(runtime.builder()) {
    graph_.name = "adamw";
    means_ = param("means", {});
    squares_ = param("squares", {});
    inputs.push_back(to_device(runtime, {10}));
    inputs.push_back(to_device(runtime, {1000}));
    for (int i = first; i < end; ++i) {
      const Shape shape = shape_of(i, small);
      const auto count = static_cast<size_t>(product(shape).value());
      std::vector<NodeRef> own;
      for (const char role : {'p', 'm', 'v', 'g'}) {
        own.push_back(param(fmt::format("{}{}", role, i), shape));
        inputs.push_back(to_device(runtime, std::vector<float>(count, role == 'v' ? 1.0f : 0.5f)));
      }
      add(own, shape);
    }
    graph_.output_names.resize(graph_.outputs.size());
  }

  const Graph& graph() const { return graph_; }
  std::vector<BufferRef> inputs;

 private:
  NodeRef param(const std::string& name, const Shape& shape) {
    graph_.params.push_back(b_.param(name, DType::kF32, shape));
    return graph_.params.back();
  }

  /// Decoupled weight decay: Loshchilov and Hutter 2019, algorithm 2.
  void add(const std::vector<NodeRef>& own, const Shape& shape) {
    const auto number = [&](double x) { return b_.constant(Scalar::of(DType::kF32, x), shape); };
    const auto sum = [&](const NodeRef& x, const NodeRef& y) { return b_.binary(Op::ADD, x, y); };
    const auto times = [&](const NodeRef& x, double by) {
      return b_.binary(Op::MUL, x, number(by));
    };
    const auto corrected = [&](const NodeRef& x, const NodeRef& by) {
      return b_.binary(Op::MUL, x, b_.expand(b_.reshape(by, Shape(shape.size(), Dim(1))), shape));
    };
    const NodeRef &p = own[0], &m = own[1], &v = own[2], &g = own[3];
    const NodeRef m1 = sum(times(m, 0.9), times(g, 0.1));
    const NodeRef v1 = sum(times(v, 0.999), times(b_.binary(Op::MUL, g, g), 0.001));
    const NodeRef root = sum(b_.unary(Op::SQRT, corrected(v1, squares_)), number(1e-8));
    const NodeRef step = sum(b_.binary(Op::FDIV, corrected(m1, means_), root), times(p, kDecay));
    graph_.outputs.push_back(b_.binary(Op::SUB, p, times(step, kRate)));
    graph_.outputs.push_back(m1);
    graph_.outputs.push_back(v1);
  }

  Builder& b_;
  Graph graph_;
  NodeRef means_, squares_;
};

/// "" if the first element of each new parameter is right.
std::string fault(const std::vector<BufferRef>& out) {
  const double v = 0.999 + 0.001 * 0.25;
  const double expected = 0.5 - kRate * (0.5 * 10 / (std::sqrt(v * 1000) + 1e-8) + kDecay * 0.5);
  for (size_t i = 0; i < out.size(); i += 3)
    if (const float got = to_host(out[i], 1)[0]; std::abs(got - expected) > 1e-5)
      return fmt::format("expected {} of parameter {}, got {}", expected, i / 3, got);
  return "";
}

/// All at once, beside runs of three, too few to be launched together; on one thread.
void bench_update(Suite& suite, const std::string& name, bool small) {
  constexpr int kFew = 3;
  if (!suite.wanted(name)) return;
  Runtime& runtime = suite.runtime(1);
  std::vector<Update> few;
  for (int first = 0; first < kParameters; first += kFew)
    few.emplace_back(runtime, small, first, std::min(first + kFew, kParameters));
  const Update all(runtime, small, 0, kParameters);
  RunStats together, stats;
  Row launches, plan, time;
  launches.wrong = fault(runtime.run(all.graph(), all.inputs, {}, &together));
  double apart_ms = 0;
  int apart = 0;
  for (const Update& update : few) {
    runtime.run(update.graph(), update.inputs, {}, &stats);
    apart_ms += stats.compile_ms;
    apart += stats.kernels;
  }
  // What is new is kept until all is done, as a step of training keeps it.
  const auto timings = measure({[&] {
                                  const auto kept = runtime.run(all.graph(), all.inputs);
                                  runtime.device().synchronize();
                                },
                                [&] {
                                  std::vector<std::vector<BufferRef>> kept;
                                  for (const Update& update : few)
                                    kept.push_back(runtime.run(update.graph(), update.inputs));
                                  runtime.device().synchronize();
                                }});
  const auto add = [&](Row& row, const std::string& what, const std::string& unit, double ours,
                       double peer) {
    row.name = name + what;
    row.unit = unit;
    row.ours = ours;
    row.peer = peer;
    row.peer_name = fmt::format("three at a time, {} launches", apart);
    row.ratio = ratio_of(ours, peer, true);
    suite.add(std::move(row));
  };
  time.spread = timings[0].spread;
  add(launches, ", launches", "", together.kernels, apart);
  add(plan, ", plan", "ms", together.compile_ms, apart_ms);
  add(time, "", "ms", timings[0].seconds * 1e3, timings[1].seconds * 1e3);
}

}  // namespace

void bench_updates(Suite& suite) {
  bench_update(suite, "launch/AdamW of 100 small parameters", true);
  bench_update(suite, "launch/AdamW of 100 parameters", false);
}

}  // namespace tenon::bench
