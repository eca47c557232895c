// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses the parts of a graph: header, subgraphs, statements, return. Private to core/ir/text.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/text/statement.hpp"

namespace tenon {

inline constexpr size_t kMaxText = size_t{1} << 28;

/// "%x "name": f32[4, n]"
struct WrittenParam {
  size_t start = 0;
  std::string_view value;
  std::string name;
  WrittenType type;
};
WrittenParam parse_param(Cursor& cursor, const SymbolTable& symbols);

/// Parses one graph.
class GraphText {
 public:
  GraphText(Cursor& cursor, Builder& builder) : cursor_(cursor), builder_(builder) {}

  Graph parse(const SymbolTable& outer, int depth);

  /// Puts the symbols after `where` into the scope. Params begin at `open`.
  using Bind = std::function<void(const std::vector<Expr>& symbols, size_t open)>;
  /// Reads bounds before the params that use them, though they come after. Bounds of elements go to
  /// `values`; if it is null they are refused.
  void header(Graph& graph, Scope& scope, const Bind& bind,
              std::vector<ValueBounds>* values = nullptr);
  void local_graph(Scope& scope, int depth);
  void statement(Scope& scope);
  void returns(Graph& graph, Scope& scope);

 private:
  void param(Graph& graph, Scope& scope);

  Cursor& cursor_;
  Builder& builder_;
  std::map<std::string, uint64_t> names_seen_;
};

/// Skips past the bracket that closes `open`, which was read before. Errors call it `what`.
void skip_past(Cursor& cursor, std::string_view open, std::string_view close,
               std::string_view what);

}  // namespace tenon
