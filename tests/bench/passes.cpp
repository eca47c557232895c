// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/passes.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tests/bench/plain_loops.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

constexpr float kA = 1.5f, kB = 0.25f, kC = 0.5f, kD = -1;

NodeRef number(Builder& b, double value) {
  return b.constant(Scalar::of(DType::kF32, value), {kPassRows, kPassColumns});
}

Graph chain_graph(Builder& b) {
  const NodeRef x = b.param("x", DType::kF32, {kPassRows, kPassColumns});
  const NodeRef inner = b.binary(Op::ADD, b.binary(Op::MUL, x, number(b, kA)), number(b, kB));
  const NodeRef positive = b.binary(Op::MAX, inner, number(b, 0));
  return make_graph("chain", {x},
                    {b.binary(Op::ADD, b.binary(Op::MUL, positive, number(b, kC)), number(b, kD))});
}

Graph softmax_graph(Builder& b) {
  const Shape shape{kPassRows, kPassColumns};
  const NodeRef x = b.param("x", DType::kF32, shape);
  const NodeRef peak = b.expand(b.reduce(Op::MAX, x, {1}), shape);
  const NodeRef shifted = b.binary(Op::SUB, x, peak);
  const NodeRef e = b.unary(Op::EXP2, b.binary(Op::MUL, shifted, number(b, 1.4426950408889634)));
  const NodeRef inverse = b.unary(Op::RECIP, b.reduce(Op::ADD, e, {1}));
  return make_graph("softmax", {x}, {b.binary(Op::MUL, e, b.expand(inverse, shape))});
}

void plain_chain_all(float* y, const float* x) { plain_chain(y, x, kPassCount, kA, kB, kC, kD); }
void plain_softmax_all(float* y, const float* x) {
  plain_softmax(y, x, static_cast<size_t>(kPassRows), static_cast<size_t>(kPassColumns));
}

constexpr Pass kPasses[] = {{"elementwise/chain", chain_graph, plain_chain_all, 1e-6},
                            {"softmax/rows", softmax_graph, plain_softmax_all, 2e-5}};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

std::string difference(const std::vector<float>& got, const std::vector<float>& expected,
                       double relative) {
  for (size_t i = 0; i < got.size(); ++i) {
    const double e = static_cast<double>(expected[i]), g = static_cast<double>(got[i]);
    if (!(std::abs(g - e) <= relative * std::abs(e) + 1e-7))
      return fmt::format("element {}: expected {}, got {}", i, e, g);
  }
  return {};
}

}  // namespace tenon::bench
