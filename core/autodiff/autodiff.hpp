// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reverse-mode differentiation of graphs, into graphs: what comes out are ordinary nodes, so that
// gradients of gradients follow. derivatives.def has the derivative of each op.
//
// Adjoints have the type of the node that they belong to. In narrow floats each is computed and
// summed in f32, and rounded once.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/ir/build.hpp"

namespace tenon {

struct GradientOptions {
  /// The states of a LOOP of a constant number of trips are kept for its gradient up to this many
  /// bytes. Beyond, those of every √n-th trip are, and the trips between are run again.
  int64_t kept_bytes = int64_t{64} << 20;
  /// Id of the device that a param lies on; "" if that is not known. A gradient goes back over a
  /// COPY to the device that it came from.
  std::function<std::string(const Node& param)> device_of;
};

struct Gradients {
  /// As the outputs given. Loops among them may be others, of the same value, that keep their
  /// states: who wants the value too should run these.
  std::vector<NodeRef> outputs;
  std::vector<NodeRef> of;  ///< as `wrt`, of its type; null where no output depends on it
};

/// The vector-Jacobian product: the gradient of sum(seeds[i] * outputs[i]) by each of `wrt`, any
/// nodes of a float dtype. Seeds have the type of their output. Throws kInvalid for other types,
/// kUnsupported for what has no derivative yet, and naming the loop for one whose number of trips
/// has no bound.
Gradients vector_jacobian(const std::vector<NodeRef>& outputs, const std::vector<NodeRef>& seeds,
                          const std::vector<NodeRef>& wrt, Builder& builder,
                          const GradientOptions& options = {});

/// The Jacobian-vector product, in forward direction: how the outputs change with `wrt` along the
/// tangents (one each, of its type). Null for an output that does not depend on any. It is the
/// gradient of a gradient.
std::vector<NodeRef> jacobian_vector(const std::vector<NodeRef>& outputs,
                                     const std::vector<NodeRef>& wrt,
                                     const std::vector<NodeRef>& tangents, Builder& builder,
                                     const GradientOptions& options = {});

/// Why vector_jacobian gives none for `wrt`: "the output does not depend on it", or "its path ends
/// at cmplt: a comparison, which only jumps".
std::string why_no_gradient(const std::vector<NodeRef>& outputs, const NodeRef& wrt);

/// A graph that gives output `output` and its gradient by params, given by name. Takes the graph's
/// params and, unless that output has one element, its seed "d_OUTPUT" last. Gives the output, then
/// for each name "d_NAME". Throws kInvalid for a name that is none, integers, and params that
/// the output does not depend on.
Graph gradient_graph(const Graph& graph, size_t output, std::span<const std::string> wrt,
                     Builder& builder, const GradientOptions& options = {});

}  // namespace tenon
