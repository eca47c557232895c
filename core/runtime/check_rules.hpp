// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks rewrite rules of an application before use: both sides are evaluated on boundary and
// random values, and rewriting must terminate.
#pragma once

#include <string_view>

#include "core/rewrite/driver.hpp"

namespace tenon {

/// `known` followed by the rules of a text (core/rewrite/rule_text.hpp). Throws kInvalid, with line
/// and column, for text that is not a rule, for a name that is taken, for rules that do not
/// terminate, and, with the values, for a rule whose right side is outside the interval of the
/// left.
rewrite::Rules with_rules(const rewrite::Rules& known, std::string_view text,
                          std::string_view origin);

}  // namespace tenon
