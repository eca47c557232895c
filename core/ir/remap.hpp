// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rebuilds the nodes of a graph, sources first.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/ir/build.hpp"
#include "core/support/flat_map.hpp"

namespace tenon {

/// The replacement of each node.
using Remapped = FlatMap<const Node*, NodeRef>;

/// The node with these sources; itself if they are its own.
inline NodeRef with_sources(const NodeRef& node, std::vector<NodeRef> sources, Builder& builder) {
  if (sources == node->sources) return node;
  return builder.make(node->op, node->dtype, node->shape, std::move(sources), node->attr);
}

/// Adds the replacement of each node of `order` to `done`. Sources must come first or be in `done`.
/// `change(node, sources)` returns the replacement, given those of the sources; null: the node with
/// these sources. Entries of `done` stay. Linear in the nodes.
template <class Change>
void remap_into(std::span<const NodeRef> order, Builder& builder, Remapped& done,
                const Change& change) {
  for (const NodeRef& node : order) {
    if (done.contains(node.get())) continue;
    std::vector<NodeRef> sources;
    sources.reserve(node->sources.size());
    for (const NodeRef& source : node->sources) sources.push_back(done.at(source.get()));
    NodeRef made = change(node, std::as_const(sources));
    done.try_emplace(node.get(),
                     made ? std::move(made) : with_sources(node, std::move(sources), builder));
  }
}

/// Replacements of `outputs` and of everything below them. Null stays null.
template <class Change>
std::vector<NodeRef> remap(const std::vector<NodeRef>& outputs, Builder& builder, Remapped done,
                           const Change& change) {
  remap_into(topological(outputs), builder, done, change);
  std::vector<NodeRef> out;
  out.reserve(outputs.size());
  for (const NodeRef& output : outputs) out.push_back(output ? done.at(output.get()) : nullptr);
  return out;
}

}  // namespace tenon
