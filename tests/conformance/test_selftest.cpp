// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of planted bugs, and how a score is counted.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "conformance/selftest/plugin/variants.hpp"
#include "conformance/selftest/selftest.hpp"
#include "core/support/error.hpp"

using namespace tenon::conformance;
using namespace tenon::conformance::selftest;
using Catch::Matchers::ContainsSubstring;
using tenon::planted::kVariants;

TEST_CASE("214 bugs are planted, and 21 variants are benign") {
  std::map<std::string_view, int> classes;
  std::set<std::string_view> names;
  for (const auto& row : kVariants) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(!row.what.empty());
    CHECK(row.benign == (row.kind == "benign"));
    ++classes[row.kind];
  }
  const std::map<std::string_view, int> expected = {{"arithmetic", 6},
                                                    {"special values", 5},
                                                    {"integer and cast", 5},
                                                    {"indexing", 8},
                                                    {"reduce", 4},
                                                    {"memory", 8},
                                                    {"sync", 3},
                                                    {"abi", 4},
                                                    {"compiler and cache", 8},
                                                    {"large numbers", 31},
                                                    {"state", 14},
                                                    {"two at once", 11},
                                                    {"subgroups", 2},
                                                    {"wide atomics", 6},
                                                    {"process", 14},
                                                    {"idioms", 25},
                                                    {"neighbours", 8},
                                                    {"cooperation", 9},
                                                    {"matrix atoms", 11},
                                                    {"tiles", 6},
                                                    {"dot products", 8},
                                                    {"products", 10},
                                                    {"loops", 3},
                                                    {"depth", 5},
                                                    {"benign", 21}};
  CHECK(classes == expected);
  CHECK(std::size(kVariants) == 235);
}

TEST_CASE("a variant is found by its name") {
  for (const auto& row : kVariants) CHECK(tenon::planted::find_variant(row.name) == &row);
  CHECK(tenon::planted::find_variant("none") == nullptr);
  CHECK(tenon::planted::find_variant("") == nullptr);
}

namespace {

SelftestRow row(const char* name, bool benign, bool found, int nodes = 0, int64_t elements = 0) {
  SelftestRow out;
  out.name = name;
  out.kind = benign ? "benign" : "reduce";
  out.benign = benign;
  out.found = found;
  out.tried = true;
  out.seconds = 0.5;
  out.nodes = nodes;
  out.elements = elements;
  if (found) out.status = "FAIL", out.failure = "mismatch";
  return out;
}

SelftestScore some_score() {
  SelftestScore score;
  score.seconds = 30;
  score.rows = {row("a", false, true, 2, 16), row("b", false, true, 5, 1), row("c", false, false),
                row("d", false, true, 3, 4),  row("e", true, false),       row("f", true, true)};
  return score;
}

}  // namespace

TEST_CASE("a score counts bugs and false alarms apart") {
  const auto json = nlohmann::json::parse(to_json(some_score()));
  CHECK(json["planted"] == 4);
  CHECK(json["found"] == 3);
  CHECK(json["benign"] == 2);
  CHECK(json["false_alarms"] == 1);
  CHECK(json["median_nodes"] == 3);
  CHECK(json["median_elements"] == 4);
  REQUIRE(json["rows"].size() == 6);
  CHECK(json["rows"][0]["name"] == "a");
  CHECK(json["rows"][0]["class"] == "reduce");
  CHECK(json["rows"][0]["found"] == true);
  CHECK(json["rows"][0]["seconds"] == 0.5);
  CHECK(json["rows"][0]["nodes"] == 2);
  CHECK(json["rows"][0]["elements"] == 16);
}

TEST_CASE("the table names what was missed and what alarmed") {
  const std::string text = to_text(some_score());
  CHECK_THAT(text, ContainsSubstring("MISSED"));
  CHECK_THAT(text, ContainsSubstring("FALSE ALARM"));
  CHECK_THAT(text, ContainsSubstring("3 of 4 planted bugs found in 30 s each, 1 of 2 benign"));
  SelftestScore flaky = some_score();
  flaky.rows[0].status = "FLAKY";
  flaky.rows[4].tried = false;
  CHECK_THAT(to_text(flaky), ContainsSubstring("NOT TRIED"));
  CHECK_THAT(to_text(flaky), ContainsSubstring("found, flaky"));
}

TEST_CASE("the bar rises with the time") {
  CHECK(found_bar(300) == 146);
  CHECK(found_bar(299) == 115);
  CHECK(found_bar(30) == 115);
  CHECK(found_bar(10) == 0);
}

TEST_CASE("an unknown name is refused before anything runs") {
  SelftestOptions options;
  options.only = {"exp2_ln2", "gremlin"};
  CHECK_THROWS_WITH(run_selftest(options), ContainsSubstring("gremlin"));
}
