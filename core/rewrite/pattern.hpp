// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules as text: {"x + 0", kInt, "add(x, 0)", "x"}.
//
// Both sides are formulas (core/ir/formula.hpp). In a pattern a variable is the same node wherever
// it occurs, and operands of commutative ops match in either order. In a replacement a number is a
// CONST of the root's dtype and shape.
#pragma once

#include <span>
#include <string_view>

#include "core/ir/formula.hpp"
#include "core/rewrite/driver.hpp"

namespace tenon::rewrite {

/// Dtypes that a rule holds for: those of a comparison's operands, else of the result.
enum Types : uint8_t { kInt = 1, kFloat = 2, kBool = 4, kAll = 7 };

struct TextRule {
  std::string_view name;
  uint8_t types;
  std::string_view pattern, replacement;
};

/// Whether the node matches the pattern; then its variables are bound.
bool match(const Formula& pattern, const NodeRef& node, Bindings& bound);

/// Throws kInternal for text that is no formula.
Rules compile(std::span<const TextRule> rules);

}  // namespace tenon::rewrite
