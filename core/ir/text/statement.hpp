// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One statement of the text form: "op operands, attributes : type". Private to core/ir/text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/build.hpp"
#include "core/ir/text/expr.hpp"
#include "core/support/error.hpp"
#include "core/support/flat_map.hpp"

namespace tenon {

/// The names of one graph.
struct Scope {
  SymbolTable symbols;
  std::vector<NodeRef> values;                  ///< in the order of the text
  FlatMap<std::string_view, uint32_t> numbers;  ///< index into values, by name without %
  std::map<std::string, GraphRef> graphs;

  void define(Cursor& cursor, size_t start, std::string_view name, NodeRef node);
  const NodeRef& value(Cursor& cursor, size_t start, std::string_view name) const;
};

NodeRef parse_statement(Cursor& cursor, const Scope& scope, Builder& builder);

/// Runs an action and adds the place to errors of the rules.
template <class Action>
void located(const Cursor& cursor, size_t position, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInvalid) throw;
    cursor.error_at(position, error.what());
  }
}

}  // namespace tenon
