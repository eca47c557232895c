// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Substitutes nodes, and inlines graphs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/ir/remap.hpp"

namespace tenon {

/// `of` with each node in `replaced` substituted by its entry, of the same type, and its users
/// rebuilt. Null stays null. Linear in the nodes.
std::vector<NodeRef> substitute(const std::vector<NodeRef>& of, const Remapped& replaced,
                                Builder& builder);

/// The outputs of a graph on these inputs, which have the types of its params.
std::vector<NodeRef> apply(const Graph& graph, std::span<const NodeRef> inputs, Builder& builder);

/// Appends a param with the shape of `like` to a graph under construction. Its identity differs
/// from params of texts, and is equal in graphs constructed equally.
NodeRef fresh_param(Builder& builder, std::string name, const Node& like, DType dtype,
                    Graph& graph);

/// Throws kInvalid for a graph that has more than kMaxNodes nodes once its calls are inlined.
void check_expansion(const Graph& graph);

bool has_calls(const Graph& graph);

/// Inlines all calls, also in bodies of IF and LOOP.
Graph inline_calls(const Graph& graph, Builder& builder);

}  // namespace tenon
