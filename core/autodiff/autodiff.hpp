// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reverse-mode differentiation of graphs. Gradients are ordinary nodes, so they can be
// differentiated again. derivatives.def has the derivative of each op.
//
// An adjoint has the type of its node. For narrow floats it is computed and summed in f32, and
// rounded once.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/build.hpp"

namespace tenon {

struct GradientOptions {
  /// Most bytes of states that a LOOP with a constant trip count saves for its gradient. Beyond,
  /// only every √n-th state is saved, and the iterations between are recomputed (checkpointing).
  int64_t kept_bytes = int64_t{64} << 20;
  /// Id of the device of a param, "" if unknown. The gradient of a COPY is copied back to that
  /// device.
  std::function<std::string(const Node& param)> device_of;
};

struct Gradients {
  /// The outputs given, with loops replaced by loops of equal value that save their states. Run
  /// these if the values are needed too.
  std::vector<NodeRef> outputs;
  std::vector<NodeRef>
      of;  ///< gradients, of the types of `wrt`; null where no output depends on it
};

/// The vector-Jacobian product: the gradient of sum(seeds[i] * outputs[i]) by each of `wrt`, which
/// are any nodes of a float dtype. Seeds have the types of their outputs. Throws kInvalid for other
/// types, and kUnsupported for ops without derivative and for loops without a bound of their trip
/// count.
Gradients vector_jacobian(const std::vector<NodeRef>& outputs, const std::vector<NodeRef>& seeds,
                          const std::vector<NodeRef>& wrt, Builder& builder,
                          const GradientOptions& options = {});

/// The Jacobian-vector product: the directional derivative of the outputs as `wrt` changes along
/// the tangents (one for each, of its type). Null for an output that depends on none. Computed as
/// the gradient of a gradient.
std::vector<NodeRef> jacobian_vector(const std::vector<NodeRef>& outputs,
                                     const std::vector<NodeRef>& wrt,
                                     const std::vector<NodeRef>& tangents, Builder& builder,
                                     const GradientOptions& options = {});

namespace autodiff {

/// For each output, whether a gradient flows from it to one of `wrt`.
std::vector<bool> reached(const std::vector<NodeRef>& outputs, const std::vector<NodeRef>& wrt);
}  // namespace autodiff

/// Why vector_jacobian returns null for `wrt`: "the output does not depend on it", or "its path
/// ends at cmplt: a comparison, which only jumps".
std::string why_no_gradient(const std::vector<NodeRef>& outputs, const NodeRef& wrt);

/// The number of the output of that name; of the first if the name is empty. Throws kInvalid.
size_t output_number(const Graph& graph, std::string_view name);

/// A graph of output `output` and its gradient by the params named in `wrt`. Its params are those
/// of the graph and, unless the output has one element, a seed "d_OUTPUT". Its results are the
/// output, then "d_NAME" for each name. Throws kInvalid for unknown names, integer params, and
/// params that the output does not depend on.
Graph gradient_graph(const Graph& graph, size_t output, std::span<const std::string> wrt,
                     Builder& builder, const GradientOptions& options = {});

}  // namespace tenon
