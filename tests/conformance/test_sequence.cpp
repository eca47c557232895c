// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences as data.
#include <catch2/catch_test_macros.hpp>

#include <set>

#include "conformance/cases/abi/sequence.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::abi;

TEST_CASE("sequences are printed and parsed back") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Choices choices(seed);
    const Sequence sequence = draw_sequence(choices);
    const std::string text = print(sequence);
    CHECK(print(parse_sequence(text)) == text);
    CHECK(parse_sequence(text).steps.size() == sequence.steps.size());
  }
  CHECK(parse_sequence("check short_error\n").check == "short_error");
  CHECK_THROWS_AS(parse_sequence("fill 0 zero\n"), Error);
}

TEST_CASE("a sequence is a function of its draws") {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Choices fresh(seed);
    const std::string text = print(draw_sequence(fresh));
    Choices again(fresh.draws());
    CHECK(print(draw_sequence(again)) == text);
    CHECK(!fresh.stretches().empty());
  }
}

TEST_CASE("the simplest sequence is short") {
  Choices nothing(std::vector<uint64_t>{});
  const Sequence sequence = draw_sequence(nothing);
  CHECK(sequence.steps.size() <= 8);
  CHECK(sequence.steps.front().verb == "allocate");
}

TEST_CASE("drawn sequences use every verb") {
  std::set<std::string> verbs;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Choices choices(seed);
    for (const SequenceStep& step : draw_sequence(choices).steps) verbs.insert(step.verb);
  }
  for (const char* verb :
       {"device",   "allocate",     "free",        "import",    "write",   "read",
        "map",      "unmap",        "fill",        "copy",      "destroy", "reload",
        "damage",   "launch",       "submit",      "raise",     "peek",    "await",
        "timeline", "race.compile", "race.submit", "race.wait", "huge",    "end"})
    CHECK(verbs.contains(verb));
  for (const std::string& kind : program_kinds()) CHECK(verbs.contains("compile." + kind));
}
