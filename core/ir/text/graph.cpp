// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/text/graph.hpp"

#include "core/support/error.hpp"

namespace tenon {

WrittenParam parse_param(Cursor& cursor, const SymbolTable& symbols) {
  WrittenParam param;
  param.start = cursor.position();
  param.value = cursor.value_name();
  param.name = param.value.substr(1);
  if (cursor.peek("\"")) param.name = cursor.name("the param's name");
  cursor.expect(":");
  param.type = parse_type(cursor, symbols);
  if (!param.type.has_dtype || !param.type.has_shape)
    cursor.error_at(param.type.position, "expected a type like f32[4, n], got a part of one");
  return param;
}

void skip_past(Cursor& cursor, std::string_view open, std::string_view close,
               std::string_view what) {
  for (int depth = 1; depth > 0;) {
    if (cursor.peek("%\"")) {
      cursor.value_name();
    } else if (cursor.peek("\"")) {
      cursor.name("a name");
    } else if (cursor.at_end() || (open == "(" && cursor.peek("{"))) {
      cursor.expected(what);
    } else if (cursor.accept(open)) {
      ++depth;
    } else if (cursor.accept(close)) {
      --depth;
    } else {
      cursor.seek(cursor.position() + 1);
    }
  }
}

Graph GraphText::parse(const SymbolTable& outer, int depth) {
  if (depth > kMaxGraphDepth)
    cursor_.expected(fmt::format("at most {} graphs in each other", kMaxGraphDepth));
  Graph graph;
  Scope scope;
  scope.symbols = outer;
  cursor_.expect_word("graph");
  graph.name = cursor_.name("the graph's name");
  header(graph, scope, [&](const std::vector<Expr>& symbols, size_t open) {
    graph.symbols = symbols;
    for (const Expr& s : symbols) {
      const Expr& known = scope.symbols.emplace(s.name(), s).first->second;
      if (!(known == s))
        cursor_.error_at(open, fmt::format("expected {} <= {} <= {} as in the graph around, got {} "
                                           "and {}",
                                           known.min(), s.name(), known.max(), s.min(), s.max()));
    }
  });
  cursor_.expect("{");
  while (cursor_.peek("graph")) local_graph(scope, depth);
  while (cursor_.peek("%")) statement(scope);
  cursor_.expect_word("return");
  returns(graph, scope);
  cursor_.expect("}");
  return graph;
}

void GraphText::header(Graph& graph, Scope& scope, const Bind& bind,
                       std::vector<ValueBounds>* values) {
  const size_t open = cursor_.position();
  cursor_.expect("(");
  skip_past(cursor_, "(", ")", "')' after the params");
  std::vector<Expr> symbols;
  if (cursor_.accept_word("where")) symbols = parse_bounds(cursor_, values);
  const size_t end = cursor_.position();
  bind(symbols, open);
  cursor_.seek(open);
  cursor_.expect("(");
  if (!cursor_.accept(")")) {
    do param(graph, scope);
    while (cursor_.accept(","));
    cursor_.expect(")");
  }
  cursor_.seek(end);
}

void GraphText::param(Graph& graph, Scope& scope) {
  WrittenParam param = parse_param(cursor_, scope.symbols);
  // Params with equal names are distinct.
  const uint64_t identity = names_seen_[param.name]++;
  located(cursor_, param.start, [&] {
    graph.params.push_back(builder_.param(std::move(param.name), param.type.type.dtype,
                                          param.type.type.shape, identity));
  });
  scope.define(cursor_, param.start, param.value, graph.params.back());
}

void GraphText::local_graph(Scope& scope, int depth) {
  const size_t start = cursor_.position();
  const auto graph =
      std::make_shared<const Graph>(GraphText(cursor_, builder_).parse(scope.symbols, depth + 1));
  if (!scope.graphs.emplace(graph->name, graph).second)
    cursor_.error_at(
        start, fmt::format("expected another name than {}, got it twice", sdk::quote(graph->name)));
}

void GraphText::statement(Scope& scope) {
  const size_t start = cursor_.position();
  const std::string_view name = cursor_.value_name();
  cursor_.expect("=");
  scope.define(cursor_, start, name, parse_statement(cursor_, scope, builder_));
}

void GraphText::returns(Graph& graph, Scope& scope) {
  if (cursor_.peek("}")) return;
  do {
    std::string name;
    const bool named = !cursor_.peek("%");
    if (named) {
      name = cursor_.name("a value like %y, or name=%y");
      cursor_.expect("=");
    }
    const size_t start = cursor_.position();
    const std::string_view value = cursor_.value_name();
    graph.outputs.push_back(scope.value(cursor_, start, value));
    const bool numbered = value.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (!named && !numbered) name = value.substr(1);
    graph.output_names.push_back(std::move(name));
  } while (cursor_.accept(","));
}

}  // namespace tenon
