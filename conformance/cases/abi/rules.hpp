// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of docs/abi.md by number, so that what is found names the rule that is broken and not
// its symptom alone.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tenon::conformance::abi {

struct Rule {
  int number;
  std::string_view text;  ///< what it says, in short
};
/// Those that findings name, by number.
std::span<const Rule> all_rules();

inline constexpr int kRuleOfProcess = 39;

/// Of a named check ("atomics"), where the checks are; 0 if it is none.
int rule_of_check(std::string_view name);
/// Of a step of a sequence ("raise"); 0 if it is none.
int rule_of_step(std::string_view verb);
/// Of a Finding of a kind, at a step of a sequence; 0 if none is known.
int rule_of_finding(std::string_view kind, std::string_view verb);

/// Of a graph's failure of a kind ("guard"); 0 where numbers or another sentence tell.
int rule_of_kind(std::string_view kind);

/// The text with the rule behind it: "...; rule 51 of docs/abi.md: a timeline only rises, ..". As
/// it is where it names a rule already, and for 0. Throws kInternal for a number without a row.
std::string with_rule(std::string text, int number);

}  // namespace tenon::conformance::abi
