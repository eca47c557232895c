// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules that an application writes, a line each:
//
//   log_of_exp: ln(exp(x)) -> x where f32, f64 approximate
//
// A name, two formulas (core/ir/formula.hpp), the dtypes that it is for, and whether its sides are
// only roughly equal. The dtype of a rule is that of a comparison's operands, of the result
// otherwise.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/formula.hpp"
#include "core/ir/skeleton.hpp"
#include "core/rewrite/driver.hpp"

namespace tenon::rewrite {

/// A rule's values are of its own dtype [0], of another [1], or always bool. kVoid where it has no
/// such values.
using RuleDTypes = std::array<DType, 2>;

struct WrittenRule {
  std::string name, place;  ///< place: "rules.txt:3"
  Formula pattern, replacement;
  DTypeSet types = ~DTypeSet{0};
  bool approximate = false;
  std::string variables;  ///< of the pattern

  static constexpr int kBoolOnly = -1;
  static constexpr size_t kResult = 26;
  /// Which of RuleDTypes a variable has, by letter; at the end the result.
  std::array<int, 27> type_of{};
  /// For each of RuleDTypes, who has it: a variable's letter, or kResult; -1: nothing.
  std::array<int, 2> holder{-1, -1};
};

/// Throws kInvalid, naming line and column, for what is no rule: also where a variable of the right
/// side is not on the left, or nothing tells the dtype of a number.
std::vector<WrittenRule> parse_rules(std::string_view text, std::string_view origin);

/// A side of a rule as a graph over params of `count` elements, one for each variable. Throws
/// kInvalid where ops or numbers do not fit the dtypes.
Graph side(const WrittenRule& rule, const Formula& formula, const RuleDTypes& dtypes, int64_t count,
           Builder& builder);

/// The rule for these dtypes: a bit in the set [own] for each other one.
Rule make_rule(WrittenRule rule, const std::array<DTypeSet, 32>& others);

}  // namespace tenon::rewrite
