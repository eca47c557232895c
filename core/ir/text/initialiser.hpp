// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses initialisers of parameters. Private to core/ir/text.
#pragma once

#include "core/ir/text/expr.hpp"
#include "core/ir/text/model.hpp"

namespace tenon {

/// Parses "zeros" or "uniform(1 / sqrt(i))". Expressions have + - * /, sqrt, parentheses, numbers
/// and symbols with a known value.
Initialiser parse_initialiser(Cursor& cursor, const SymbolTable& symbols);

}  // namespace tenon
