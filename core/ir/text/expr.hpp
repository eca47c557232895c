// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses expressions, shapes and types. Private to core/ir/text.
#pragma once

#include <map>
#include <string>

#include "core/expr/expr.hpp"
#include "core/ir/infer.hpp"
#include "core/ir/text/cursor.hpp"

namespace tenon {

using SymbolTable = std::map<std::string, Expr>;

Expr parse_expr(Cursor& cursor, const SymbolTable& symbols);
Shape parse_shape(Cursor& cursor, const SymbolTable& symbols);  ///< "[n, 10]"

/// The type after a colon. Parts may be omitted: "f16", "[4, n]", "f16[..]".
struct WrittenType {
  size_t position = 0;
  bool has_dtype = false, has_shape = false;
  NodeType type;
};
WrittenType parse_type(Cursor& cursor, const SymbolTable& symbols);

/// Bounds of the elements of a param.
struct ValueBounds {
  size_t position = 0;
  std::string value;  ///< "%label"
  int64_t low = 0, high = 0;
};

/// Parses "1 <= n <= 4096, 0 <= m <= 7". Bounds of values, "0 <= %label <= 9", go to `values`; if
/// it is null they are refused.
std::vector<Expr> parse_bounds(Cursor& cursor, std::vector<ValueBounds>* values = nullptr);

}  // namespace tenon
