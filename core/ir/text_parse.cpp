// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs from text: header, local graphs, statements, return.
#include <map>

#include "core/ir/text.hpp"
#include "core/ir/text_statement.hpp"
#include "core/ir/verify.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr size_t kMaxText = size_t{1} << 28;

class GraphParser {
 public:
  GraphParser(Cursor& cursor, Builder& builder) : cursor_(cursor), builder_(builder) {}

  Graph parse(const SymbolTable& outer, int depth) {
    if (depth > kMaxGraphDepth)
      cursor_.expected(fmt::format("at most {} graphs in each other", kMaxGraphDepth));
    Graph graph;
    Scope scope;
    scope.symbols = outer;
    cursor_.expect_word("graph");
    graph.name = cursor_.name("the graph's name");
    header(graph, scope);
    cursor_.expect("{");
    while (cursor_.peek("graph")) local_graph(scope, depth);
    while (cursor_.peek("%")) statement(scope);
    cursor_.expect_word("return");
    returns(graph, scope);
    cursor_.expect("}");
    return graph;
  }

 private:
  /// The bounds stand after the params that use them, so they are read first.
  void header(Graph& graph, Scope& scope) {
    const size_t open = cursor_.position();
    skip_params();
    if (cursor_.accept_word("where")) graph.symbols = parse_bounds(cursor_);
    const size_t end = cursor_.position();
    for (const Expr& s : graph.symbols) {
      const Expr& known = scope.symbols.emplace(s.name(), s).first->second;
      if (!(known == s))
        cursor_.error_at(open, fmt::format("expected {} <= {} <= {} as in the graph around, got {} "
                                           "and {}",
                                           known.min(), s.name(), known.max(), s.min(), s.max()));
    }
    cursor_.seek(open);
    cursor_.expect("(");
    if (!cursor_.accept(")")) {
      do param(graph, scope);
      while (cursor_.accept(","));
      cursor_.expect(")");
    }
    cursor_.seek(end);
  }

  void skip_params() {
    cursor_.expect("(");
    int open = 1;
    while (open > 0) {
      if (cursor_.peek("%\"")) {
        cursor_.value_name();
      } else if (cursor_.peek("\"")) {
        cursor_.name("a name");
      } else if (cursor_.at_end() || cursor_.peek("{")) {
        cursor_.expected("')' after the params");
      } else if (cursor_.accept("(")) {
        ++open;
      } else if (cursor_.accept(")")) {
        --open;
      } else {
        cursor_.seek(cursor_.position() + 1);
      }
    }
  }

  void param(Graph& graph, Scope& scope) {
    const size_t start = cursor_.position();
    const std::string_view value = cursor_.value_name();
    std::string name(value.substr(1));
    if (cursor_.peek("\"")) name = cursor_.name("the param's name");
    cursor_.expect(":");
    const WrittenType written = parse_type(cursor_, scope.symbols);
    if (!written.has_dtype || !written.has_shape)
      cursor_.error_at(written.position, "expected a type like f32[4, n], got a part of one");
    // Params of one name are different all the same.
    const uint64_t identity = names_seen_[name]++;
    located(cursor_, start, [&] {
      graph.params.push_back(
          builder_.param(std::move(name), written.type.dtype, written.type.shape, identity));
    });
    scope.define(cursor_, start, value, graph.params.back());
  }

  void local_graph(Scope& scope, int depth) {
    const size_t start = cursor_.position();
    const auto graph = std::make_shared<const Graph>(
        GraphParser(cursor_, builder_).parse(scope.symbols, depth + 1));
    if (!scope.graphs.emplace(graph->name, graph).second)
      cursor_.error_at(start, fmt::format("expected another name than {}, got it twice",
                                          sdk::quote(graph->name)));
  }

  void statement(Scope& scope) {
    const size_t start = cursor_.position();
    const std::string_view name = cursor_.value_name();
    cursor_.expect("=");
    scope.define(cursor_, start, name, parse_statement(cursor_, scope, builder_));
  }

  void returns(Graph& graph, Scope& scope) {
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

  Cursor& cursor_;
  Builder& builder_;
  std::map<std::string, uint64_t> names_seen_;
};

}  // namespace

Graph parse_graph(std::string_view text, Builder& builder, std::string_view origin) {
  TN_REQUIRE(text.size() <= kMaxText, "{}: expected a text of at most {} bytes, got {}", origin,
             kMaxText, text.size());
  Cursor cursor(text, origin);
  Graph graph = GraphParser(cursor, builder).parse({}, 1);
  if (!cursor.at_end()) cursor.expected("the end of the text after the graph");
  located(cursor, 0, [&] { verify(graph); });
  return graph;
}

}  // namespace tenon
