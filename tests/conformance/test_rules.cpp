// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is found names the rule that is broken: each check has one, and docs/abi.md has them all.
#include <catch2/catch_test_macros.hpp>

#include <set>
#include <sstream>

#include "conformance/cases/abi/rules.hpp"
#include "conformance/cases/abi/sequence.hpp"
#include "conformance/cases/files.hpp"

using namespace tenon::conformance;
using namespace tenon::conformance::abi;

namespace {

/// The numbers of the page: lines that begin with "51. ".
std::set<int> numbers_of_page() {
  std::set<int> out;
  std::istringstream in(tenon::conformance::read_file(TENON_SOURCE_DIR "/docs/abi.md"));
  for (std::string line; std::getline(in, line);) {
    const size_t digits = line.find_first_not_of("0123456789");
    if (digits > 0 && digits != line.npos && line.compare(digits, 2, ". ") == 0)
      out.insert(std::stoi(line.substr(0, digits)));
  }
  return out;
}

}  // namespace

TEST_CASE("the rules that findings name stand in docs/abi.md") {
  const std::set<int> page = numbers_of_page();
  CHECK(page.size() >= 64);
  int before = 0;
  for (const Rule& rule : all_rules()) {
    INFO(rule.number);
    CHECK(page.contains(rule.number));
    CHECK(rule.number > before);  // each once
    CHECK(!rule.text.empty());
    before = rule.number;
  }
}

TEST_CASE("each check and each step has a rule with a row") {
  std::set<int> rows;
  for (const Rule& rule : all_rules()) rows.insert(rule.number);
  for (const std::string& name : abi_checks()) {
    INFO(name);
    CHECK(rows.contains(rule_of_check(name)));
  }
  for (const char* verb : {"allocate", "raise", "await", "launch", "submit", "program", "matrix"}) {
    INFO(verb);
    CHECK(rows.contains(rule_of_step(verb)));
    for (const char* kind : {"order", "mismatch", "leak", "guard", "support", "error"})
      CHECK(rows.contains(rule_of_finding(kind, verb)));
  }
  CHECK(rule_of_check("no_such_check") == 0);
  CHECK(rule_of_step("no_such_step") == 0);
}

TEST_CASE("a rule stands behind the sentence, once") {
  const std::string told = with_rule("expected 1, got 2", 35);
  CHECK(told ==
        "expected 1, got 2; rule 35 of docs/abi.md: a grid with a zero in it runs nothing and "
        "succeeds");
  CHECK(with_rule(told, 51) == told);
  CHECK(with_rule("of no rule", 0) == "of no rule");
}
