// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparing graphs blind to names, and the graphs inside of nodes.
#pragma once

#include <map>
#include <string>

#include "core/ir/node.hpp"
#include "core/support/flat_map.hpp"

namespace tenon::structure {

/// Symbols by name, and what stands for them: their place among those of the graphs around.
using Renaming = std::map<std::string, Expr>;

/// Symbols of an enclosing graph keep the place they have there.
Renaming renaming_of(const Graph& graph, const Renaming& outer);
Shape renamed(Shape shape, const Renaming& names);
/// The attribute without names; graphs inside are handled apart.
Attr renamed(Attr attr, const Renaming& names);

uint64_t hash_graph(const Graph& graph, const Renaming& outer);
bool same_graph(const Graph& a, const Renaming& outer_a, const Graph& b, const Renaming& outer_b);
/// The graphs of an IF, LOOP or CALL.
std::vector<const Graph*> graphs_of(const Attr& attr);
/// What is known of the graphs inside of one graph's nodes: each is looked at once, as graphs in
/// graphs in graphs would take a time that grows with every level.
using HashesInside = FlatMap<const Graph*, uint64_t>;
using SameInside = std::map<std::pair<const Graph*, const Graph*>, bool>;
/// Op, dtype, shape and attribute, graphs inside included; not the sources.
uint64_t hash_head(const Node& node, const Renaming& names, HashesInside& inside);
bool same_head(const Node& a, const Renaming& names_a, const Node& b, const Renaming& names_b,
               SameInside& inside);

}  // namespace tenon::structure
