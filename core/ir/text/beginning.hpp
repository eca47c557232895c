// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where parameters begin, as text. Private to core/ir/text.
#pragma once

#include "core/ir/text/expr.hpp"
#include "core/ir/text/model.hpp"

namespace tenon {

/// "zeros", "uniform(1 / sqrt(i))": numbers are made of + - * /, sqrt, parentheses, numbers and
/// symbols that stand for a number.
Beginning parse_beginning(Cursor& cursor, const SymbolTable& symbols);

}  // namespace tenon
