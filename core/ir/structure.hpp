// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares graphs without regard to names, and lists the subgraphs of nodes.
#pragma once

#include <map>
#include <string>

#include "core/ir/node.hpp"
#include "core/support/flat_map.hpp"

namespace tenon::structure {

/// Replacements of symbols by name: their position among the symbols of the enclosing graphs.
using Renaming = std::map<std::string, Expr>;

/// Symbols of an enclosing graph keep their position there.
Renaming renaming_of(const Graph& graph, const Renaming& outer);
Shape renamed(Shape shape, const Renaming& names);
/// The attribute without names. Subgraphs are handled separately.
Attr renamed(Attr attr, const Renaming& names);

uint64_t hash_graph(const Graph& graph, const Renaming& outer);
bool same_graph(const Graph& a, const Renaming& outer_a, const Graph& b, const Renaming& outer_b);
/// The graphs of an IF, LOOP or CALL.
std::vector<const Graph*> graphs_of(const Attr& attr);
/// Cached hashes of the subgraphs of one graph. Each is hashed once; else nesting would take
/// exponential time.
using SubgraphHashes = FlatMap<const Graph*, uint64_t>;
using SubgraphEquality = std::map<std::pair<const Graph*, const Graph*>, bool>;
/// Hash of op, dtype, shape and attribute with subgraphs, without sources.
uint64_t hash_head(const Node& node, const Renaming& names, SubgraphHashes& subgraphs);
bool same_head(const Node& a, const Renaming& names_a, const Node& b, const Renaming& names_b,
               SubgraphEquality& subgraphs);

}  // namespace tenon::structure
