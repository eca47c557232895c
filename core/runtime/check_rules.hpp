// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of an application are tried before they are used: both sides on drawn values, and whether
// they come to an end.
#pragma once

#include <string_view>

#include "core/rewrite/driver.hpp"

namespace tenon {

/// The rules of a text (core/rewrite/rule_text.hpp) after those that there are. Throws kInvalid,
/// naming the place, for what is no rule, for a name that is taken, for rules that do not come to
/// an end, and for one whose right side is not what a correct device may answer for the left: with
/// the values where they differ.
rewrite::Rules with_rules(const rewrite::Rules& known, std::string_view text,
                          std::string_view origin);

}  // namespace tenon
