// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Coverage cells: their names and numbers, what a case reaches, and what steering is good for.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "conformance/cases/graphs/coverage.hpp"
#include "conformance/cases/graphs/edge.hpp"
#include "conformance/cases/graphs/graphs.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::graphs;

namespace {

std::set<std::string> names_of(const Case& test) {
  std::set<std::string> names;
  for (const uint32_t cell : coverage_of(test)) names.insert(coverage_name(cell));
  return names;
}

std::set<uint32_t> reached_by(Builder& builder, uint64_t graphs, bool aimed) {
  std::set<uint32_t> cells;
  for (uint64_t i = 0; i < graphs; ++i) {
    Choices choices(mix(i, 99));
    std::optional<uint32_t> aim;
    if (aimed) aim = coverage_aim(1, i);
    Case test;
    test.graph = build_graph(choices, builder, aim).graph;
    for (const uint32_t cell : coverage_of(test)) cells.insert(cell);
  }
  return cells;
}

}  // namespace

TEST_CASE("edges have numbers and names") {
  std::set<std::string> names;
  for (uint32_t i = 0; i < coverage_size(); ++i) names.insert(coverage_name(i));
  CHECK(names.size() == coverage_size());
  for (uint32_t i = 0; i < edge_count(); i += 101) CHECK(edge_number(edge_at(i)) == i);
}

TEST_CASE("a case reaches its edges, through views too, and its transforms") {
  Builder b;
  Case test;
  const NodeRef x = b.param("x", DType::kF32, {Dim(4), Dim(5)});
  const NodeRef doubled = b.binary(Op::ADD, x, x);
  const NodeRef sum = b.reduce(Op::ADD, b.permute(doubled, {1, 0}), {1});
  const NodeRef y = b.unary(Op::SQRT, b.expand(sum, {Dim(5), Dim(4)}));
  test.graph.params = {x};
  test.graph.outputs = {y};
  CHECK(names_of(test) == std::set<std::string>{"param > add f32 plain",
                                                "add > reduce.add f32 permuted",
                                                "reduce.add > sqrt f32 broadcast"});
  test.transforms = {"split i0 4; unroll i0_1"};
  CHECK(names_of(test).contains("add > reduce.add, unroll"));
  CHECK_FALSE(names_of(test).contains("add > reduce.add, merge"));
}

TEST_CASE("every edge is aimed at once before any is again") {
  std::set<uint32_t> aims;
  const uint32_t graphs = edge_count() / kAims;
  for (uint32_t i = 0; i < graphs; ++i) {
    uint32_t cell = coverage_aim(77, i);
    for (uint32_t k = 0; k < kAims; ++k, cell = next_aim(cell)) aims.insert(cell);
  }
  CHECK(aims.size() == edge_count());
}

TEST_CASE("graphs that aim reach more than graphs that do not") {
  Builder builder;
  const size_t plain = reached_by(builder, 1000, false).size();
  const size_t aimed = reached_by(builder, 1000, true).size();
  CAPTURE(plain, aimed, coverage_size());
  CHECK(aimed > plain * 3 / 2);
}

TEST_CASE("an edge that is aimed at is reached") {
  Builder builder;
  int reached = 0, tried = 0;
  for (uint32_t cell = 5; cell < edge_count(); cell += 997) {
    Case test;
    bool found = false;
    for (uint64_t seed = 0; seed < 20 && !found; ++seed) {
      Choices choices(mix(seed, cell));
      test.graph = build_graph(choices, builder, cell).graph;
      const auto cells = coverage_of(test);
      found = std::ranges::find(cells, cell) != cells.end();
    }
    ++tried;
    reached += found;
    if (!found) UNSCOPED_INFO("not reached: " << coverage_name(cell));
  }
  CHECK(reached == tried);
}
