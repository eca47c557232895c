// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --layers and --only: which cases they take.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <set>

#include "conformance/cases/generator.hpp"
#include "conformance/cases/selection.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using namespace tenon::conformance;
using Catch::Matchers::ContainsSubstring;

namespace {

using Names = std::vector<std::string>;

/// The ops of the cases among the first of `run` that are taken.
std::set<std::string> taken(const Selection& selection, uint64_t cases = 4000) {
  std::set<std::string> out;
  Builder builder;
  Generator generator(1, builder);
  for (uint64_t i = kRunBase; i < kRunBase + cases; ++i)
    if (selection.wants(plan_case(1, i))) out.insert(generator.make(i).cell.op);
  return out;
}

}  // namespace

TEST_CASE("a name takes its cases and no others") {
  CHECK(Selection().is_all());
  CHECK(taken(Selection({}, Names{"atomics"})) == std::set<std::string>{"api.atomics"});
  CHECK(taken(Selection({}, Names{"api.atomics"})) == std::set<std::string>{"api.atomics"});
  CHECK(taken(Selection({}, Names{"idioms"})) == std::set<std::string>{"api.idioms"});
  CHECK(taken(Selection({}, Names{"cast.i8", "add"})) == std::set<std::string>{"add", "cast.i8"});
  const auto ops = taken(Selection({}, Names{"each_op"}));
  CHECK(ops.size() == 15);
  CHECK(ops.contains("api.each_op.f32"));
}

TEST_CASE("names and layers together take what has both") {
  const Selection cells(Names{"cells"}, Names{"add", "atomics"});
  CHECK(taken(cells) == std::set<std::string>{"add"});
  CHECK(cells.layers_text() == "cells");
  CHECK(cells.only_text() == "add,atomics");
  CHECK_THROWS_WITH(Selection(Names{"graphs"}, Names{"add"}),
                    ContainsSubstring("expected --layers with cells or transforms for add"));
}

TEST_CASE("an unknown name is told which there are") {
  CHECK_THROWS_WITH(Selection({}, Names{"atomic"}),
                    ContainsSubstring("got \"atomic\"") && ContainsSubstring("atomics, ") &&
                        ContainsSubstring("cast.i8, ") && ContainsSubstring("neighbours"));
  CHECK_THROWS_WITH(Selection(Names{"cell"}, {}), ContainsSubstring("got \"cell\""));
}
