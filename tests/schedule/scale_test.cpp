// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large graphs: no deep recursion, and time that grows with the size.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "core/schedule/memory_plan.hpp"
#include "tests/schedule/models.hpp"

namespace tenon::test {
namespace {

/// Of the processor: a busy machine does not count.
double seconds_to_schedule(Models& m, const Graph& g) {
  const std::clock_t begin = std::clock();
  const Schedule s = schedule(g, on_one_device(), m.builder);
  plan_memory(s, {}, 64);
  REQUIRE(!s.steps.empty());
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

Graph chain(Models& m, int length) {
  NodeRef x = m.param("x", {8, 8});
  const NodeRef y = m.param("y", {8, 8});
  for (int i = 0; i < length; ++i) {
    x = m.builder.binary(i % 3 ? Op::ADD : Op::MUL, x, y);
    if (i % 16 == 15) x = m.builder.expand(m.builder.reduce(Op::MAX, x, {1}), x->shape);
  }
  return m.graph("chain", {x});
}

int most_of(const Schedule& s, Op op) {
  int most = 0;
  for (int k = 0; k < kernel_count(s); ++k) {
    const auto nodes = topological(kernel(s, k).graph.outputs);
    const auto count =
        std::ranges::count_if(nodes, [&](const NodeRef& node) { return node->op == op; });
    most = std::max(most, static_cast<int>(count));
  }
  return most;
}

TEST_CASE("a chain of 100,000 nodes") {
  Models m;
  const Graph small = chain(m, 10000), large = chain(m, 100000);
  const double few = seconds_to_schedule(m, small), many = seconds_to_schedule(m, large);
  INFO(few << " s for 10,000 nodes, " << many << " s for 100,000");
  REQUIRE(many < 40 * few + 0.5);
}

TEST_CASE("one value read by 20,000 kernels") {
  Models m;
  const NodeRef x = m.param("x", {4, 4});
  const NodeRef shared = m.exp(x);
  std::vector<NodeRef> outputs;
  for (int i = 0; i < 20000; ++i)
    outputs.push_back(m.builder.reduce(Op::ADD, m.scaled(shared, i), {i % 2}));
  REQUIRE(seconds_to_schedule(m, m.graph("wide", outputs)) < 60);
}

// Each is a loop, and rules make several axes of one, of which a kernel has 256.
TEST_CASE("reductions one after another share kernels by the handful") {
  Models m;
  const NodeRef x = m.param("x", {64, 512});
  NodeRef y = x;
  for (int i = 0; i < 50; ++i)
    y = m.add(m.builder.expand(m.builder.reduce(Op::MAX, y, {1}), x->shape), x);
  std::vector<NodeRef> sums;
  for (int i = 0; i < 50; ++i) sums.push_back(m.builder.reduce(Op::ADD, m.scaled(x, i + 2), {1}));
  NodeRef z = sums[0];
  for (int i = 1; i < 50; ++i) z = m.add(z, sums[static_cast<size_t>(i)]);
  for (const NodeRef& output : {y, z}) {
    const Schedule s = schedule(m.graph("reductions", {output}), on_one_device(), m.builder);
    CHECK(most_of(s, Op::REDUCE) > 1);
    CHECK(most_of(s, Op::REDUCE) <= 8);
  }
}

// Each asks whether its index is in bounds, within all bounds before: more than quadratic input.
TEST_CASE("gathers one after another share kernels by the dozen") {
  Models m;
  const NodeRef index = m.param("i", {64}, DType::kI32);
  NodeRef y = m.param("x", {64});
  for (int i = 0; i < 400; ++i) y = m.builder.take(y, index, 0);
  const Schedule s = schedule(m.graph("gathers", {y}), on_one_device(), m.builder);
  CHECK(most_of(s, Op::TAKE) > 1);
  CHECK(most_of(s, Op::TAKE) <= 100);
}

}  // namespace
}  // namespace tenon::test
