// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large graphs: no deep recursion, and time that grows with the size.
#include <catch2/catch_test_macros.hpp>
#include <chrono>

#include "core/schedule/memory_plan.hpp"
#include "tests/schedule/models.hpp"

namespace tenon::test {
namespace {

double seconds_to_schedule(Models& m, const Graph& g) {
  const auto begin = std::chrono::steady_clock::now();
  const Schedule s = schedule(g, on_one_device(), m.builder);
  plan_memory(s, {}, 64);
  REQUIRE(!s.steps.empty());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
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

}  // namespace
}  // namespace tenon::test
