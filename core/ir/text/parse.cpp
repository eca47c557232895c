// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses a whole text as one graph.
#include "core/ir/text/graph.hpp"
#include "core/ir/text/model.hpp"
#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"
#include "core/support/error.hpp"

namespace tenon {

Graph parse_graph(std::string_view text, Builder& builder, std::string_view origin) {
  if (is_model(text)) return parse_model(text, builder, origin).graph;
  TN_REQUIRE(text.size() <= kMaxText, "{}: expected a text of at most {} bytes, got {}", origin,
             kMaxText, text.size());
  Cursor cursor(text, origin);
  Graph graph = GraphText(cursor, builder).parse({}, 1);
  if (!cursor.at_end()) cursor.expected("the end of the text after the graph");
  located(cursor, 0, [&] { verify(graph); });
  return graph;
}

}  // namespace tenon
