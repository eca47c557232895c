// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs put in the place of nodes, and made of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/ir/remap.hpp"

namespace tenon {

/// The nodes above `of` on other leaves: each node that `replaced` has is replaced by what stands
/// there, of the same type, and those that use it are made again; null stays null. Takes time
/// linear in the nodes.
std::vector<NodeRef> substitute(const std::vector<NodeRef>& of, const Remapped& replaced,
                                Builder& builder);

/// The outputs of a graph on these inputs, of the types of its params.
std::vector<NodeRef> apply(const Graph& graph, std::span<const NodeRef> inputs, Builder& builder);

/// Appends a param, of the shape of `like`, to a graph that is being made. No param of a text is
/// this one, and graphs made alike have the same.
NodeRef own_param(Builder& builder, std::string name, const Node& like, DType dtype, Graph& graph);

/// Throws kInvalid for a graph that has more than kMaxNodes nodes once its calls are inlined.
void check_expansion(const Graph& graph);

bool has_calls(const Graph& graph);

/// The same values without a CALL: the nodes of the body stand in its place, in bodies of IF and
/// LOOP too.
Graph inline_calls(const Graph& graph, Builder& builder);

}  // namespace tenon
