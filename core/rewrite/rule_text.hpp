// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrite rules of an application, one on each line:
//
//   log_of_exp: ln(exp(x)) -> x where f32, f64 approximate
//
// A rule has a name, two formulas (core/ir/formula.hpp), its dtypes, and `approximate` if its sides
// are only roughly equal. The dtype of a rule is that of a comparison's operands, else of the
// result.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/formula.hpp"
#include "core/ir/skeleton.hpp"
#include "core/rewrite/driver.hpp"

namespace tenon::rewrite {

/// The values of a rule have its own dtype [0], another dtype [1], or are bool. kVoid where it has
/// no such values.
using RuleDTypes = std::array<DType, 2>;

struct WrittenRule {
  std::string name, place;  ///< place: "rules.txt:3"
  Formula pattern, replacement;
  DTypeSet types = ~DTypeSet{0};
  bool approximate = false;
  std::string variables;  ///< of the pattern

  static constexpr int kBoolOnly = -1;
  static constexpr size_t kResult = 26;
  /// Index into RuleDTypes of each variable, by letter; the last entry is the result.
  std::array<int, 27> type_of{};
  /// For each of RuleDTypes, a variable with that dtype, or kResult; -1: none.
  std::array<int, 2> holder{-1, -1};
};

/// Throws kInvalid with line and column for text that is not a rule, for a variable that is only on
/// the right side, and for a number whose dtype cannot be inferred.
std::vector<WrittenRule> parse_rules(std::string_view text, std::string_view origin);

/// One side of a rule as a graph, with a param of `count` elements for each variable. Throws
/// kInvalid if ops or numbers do not fit the dtypes.
Graph side(const WrittenRule& rule, const Formula& formula, const RuleDTypes& dtypes, int64_t count,
           Builder& builder);

/// Compiles the rule for pairs of dtypes: others[own] is the set of other dtypes.
Rule make_rule(WrittenRule rule, const std::array<DTypeSet, 32>& others);

}  // namespace tenon::rewrite
