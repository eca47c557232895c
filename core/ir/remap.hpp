// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one walk that makes the nodes of a graph anew, sources first.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/ir/build.hpp"
#include "core/support/flat_map.hpp"

namespace tenon {

/// What stands for each node.
using Remapped = FlatMap<const Node*, NodeRef>;

/// The node on these sources; itself where they are its own.
inline NodeRef with_sources(const NodeRef& node, std::vector<NodeRef> sources, Builder& builder) {
  if (sources == node->sources) return node;
  return builder.make(node->op, node->dtype, node->shape, std::move(sources), node->attr);
}

/// Adds to `done` what stands for each node of `order`, whose sources come before it or are done.
/// `change(node, sources)` gives it from what stands for its sources; null: the node on these. What
/// is done already stays. Takes time linear in the nodes.
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

/// What stands for `outputs`, after all that is below them; null stays null.
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
