// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 6: gradients of the random graphs of layer 2, which a device must compute like any other
// graph.
#pragma once

#include <optional>

#include "conformance/cases/choices.hpp"
#include "conformance/cases/graphs/template.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance::graphs {

/// The float outputs of a graph with a seed each, and what they are differentiated by: its float
/// params that an output depends on.
struct Differentiated {
  std::vector<NodeRef> outputs, seeds, wrt;
  std::vector<NodeRef> gradients;  ///< of each of `wrt`
};

/// Nothing if no gradient reaches a param, or the core refuses to make it.
std::optional<Differentiated> differentiate(const Graph& graph, Builder& builder);

/// build_graph's graph and its gradients by all float params, weighted by seeds that are params
/// too. A graph that has none stays as it is.
Template build_gradient(Choices& choices, Builder& builder, std::optional<uint32_t> aim = {},
                        uint32_t flags = 0);

}  // namespace tenon::conformance::graphs
