// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/abi/rules.hpp"

#include <algorithm>

#include "core/support/error.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr Rule kRules[] = {
#define TN_RULE(number, text) {number, text},
#include "conformance/cases/abi/rules.def"
};

struct StepRule {
  std::string_view verb;
  int rule;
};
constexpr StepRule kSteps[] = {
    {"device", 62},  {"allocate", 23}, {"import", 47},       {"free", 15},        {"write", 45},
    {"read", 45},    {"map", 45},      {"unmap", 45},        {"fill", 46},        {"copy", 46},
    {"destroy", 15}, {"reload", 31},   {"damage", 31},       {"launch", 34},      {"submit", 32},
    {"raise", 51},   {"peek", 51},     {"await", 51},        {"timeline", 51},    {"huge", 13},
    {"end", 17},     {"program", 27},  {"race.compile", 19}, {"race.submit", 62}, {"race.wait", 19},
    {"matrix", 37},
};

}  // namespace

std::span<const Rule> all_rules() { return kRules; }

int rule_of_step(std::string_view verb) {
  const auto* found = std::ranges::find(kSteps, verb, &StepRule::verb);
  return found == std::end(kSteps) ? 0 : found->rule;
}

int rule_of_finding(std::string_view kind, std::string_view verb) {
  if (kind == "order") return 32;
  if (kind == "leak") return 15;
  if (kind == "support") return 26;
  if (kind == "guard") return 34;
  // What a call shows is what those before it did.
  const bool is_program = verb == "program" || verb == "matrix";
  return kind == "mismatch" && !is_program ? 32 : rule_of_step(verb);
}

int rule_of_kind(std::string_view kind) {
  if (kind == "guard" || kind == "input") return 34;
  if (kind == "nondeterminism") return 29;
  if (kind == "alias") return 60;
  if (kind == "limit") return 27;
  return kind == "support" ? 26 : 0;
}

std::string with_rule(std::string text, int number) {
  if (number == 0 || text.find("rule ") != text.npos) return text;
  const auto* rule = std::ranges::find(kRules, number, &Rule::number);
  TN_ASSERT(rule != std::end(kRules));
  return fmt::format("{}; rule {} of docs/abi.md: {}", text, number, rule->text);
}

}  // namespace tenon::conformance::abi
