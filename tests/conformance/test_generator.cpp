// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generator: the same case from the same seed and index, legal graphs, values that say
// something.
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "conformance/cases/cells.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/reproducer.hpp"
#include "conformance/judge/compare.hpp"
#include "core/ir/text.hpp"
#include "core/ir/verify.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using namespace tenon::conformance;

namespace {

Profile strict_profile() { return Profile::of(generic_capabilities()); }

std::string text_of(const Case& test) { return write_reproducer({test, {}, "any"}); }

}  // namespace

TEST_CASE("a case depends on its seed and index alone") {
  Builder first, second;
  Generator forward(7, first), backward(7, second);
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < 300; ++i) texts.push_back(text_of(forward.make(i)));
  for (uint64_t i = 300; i-- > 0;) REQUIRE(text_of(backward.make(i)) == texts[i]);
  CHECK(std::set<std::string>(texts.begin(), texts.end()).size() > 290);
  Builder third;
  Generator other(8, third);
  int same = 0;
  for (uint64_t i = 0; i < 300; ++i) same += text_of(other.make(i)) == texts[i];
  CHECK(same < 10);
}

TEST_CASE("cases are legal, evaluate, and say something") {
  Builder builder;
  Generator generator(3, builder);
  const Profile profile = strict_profile();
  int graphs = 0, vacuous = 0, total = 0;
  size_t most_nodes = 0;
  for (uint64_t i = 0; i < 1600; ++i) {
    INFO("case 3:" << i);
    Case test = generator.make(i);
    REQUIRE_NOTHROW(verify(test.graph));
    if (test.refusal) continue;
    Expectation expectation = expect(test, profile);
    for (uint64_t attempt = 1; attempt < 5 && !vacuity(expectation).empty(); ++attempt)
      expectation = expect(generator.make(i, attempt), profile);
    ++total;
    vacuous += !vacuity(expectation).empty();
    if (test.cell.op != "graph") continue;
    ++graphs;
    most_nodes = std::max(most_nodes, topological(test.graph.outputs).size());
  }
  CHECK(graphs > 200);
  CHECK(most_nodes >= 20);
  CHECK(most_nodes <= 40);
  CHECK(vacuous * 20 < total);
}

TEST_CASE("every cell makes a graph") {
  Builder builder;
  for (size_t i = 0; i < all_cells().size(); ++i) {
    const CellSpec& spec = all_cells()[i];
    INFO(describe(spec).op << " " << describe(spec).dtype << " " << describe(spec).layout);
    Choices choices(i);
    Template shape;
    REQUIRE_NOTHROW(shape = build_cell(spec, choices, builder, false));
    REQUIRE_NOTHROW(verify(shape.graph));
  }
}

TEST_CASE("every code of an 8-bit dtype is tried by run") {
  Builder builder;
  Choices choices(1);
  const CellSpec cell{.op = Op::NEG, .dtype = DType::kI8};
  REQUIRE(can_exhaust(cell));
  const Case test = instantiate(build_cell(cell, choices, builder, true), 1, kRunBase, 0);
  std::set<uint64_t> codes;
  for (int64_t i = 0; i < test.inputs[0].count(); ++i) codes.insert(test.inputs[0].at(i).bits);
  CHECK(codes.size() == 256);
  const CellSpec pairs{.op = Op::IDIV, .dtype = DType::kU8};
  REQUIRE(can_exhaust(pairs));
  CHECK(product(build_cell(pairs, choices, builder, true).graph.outputs[0]->shape).value() ==
        65536);
}

TEST_CASE("case names parse, and nothing else does") {
  CHECK(parse_case_name("7:1234") == std::pair<uint64_t, uint64_t>(7, 1234));
  for (const char* bad : {"", "7", ":", "7:", ":4", "7:x", "7:1:2", "-1:2"})
    CHECK_THROWS_AS(parse_case_name(bad), Error);
}
