// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One sweep from the outputs of a graph to what it is differentiated by. Private to core/autodiff.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/autodiff/autodiff.hpp"
#include "core/support/flat_map.hpp"

namespace tenon::autodiff {

/// f32 for narrower floats, the dtype itself otherwise: what adjoints are computed and summed in.
DType wide(DType dtype);

/// A LOOP that keeps the states which its gradient needs.
struct Tape {
  std::vector<NodeRef> kept;    ///< by carried value: [trips, its shape..], or null
  NodeRef trips;                ///< how many were run: i64[]
  Dim rows;                     ///< at most so many
  double room = 0;              ///< bytes a trip that may be kept beside these
  std::vector<NodeRef> values;  ///< kept reductions of trips, [trips, their shapes..]
  /// Adjoints of one trip; see loop_rules.cpp. Kept reductions are its last params.
  GraphRef backward;
  std::vector<bool> carried, captured;  ///< which have adjoints
};

class Backward {
 public:
  Backward(Builder& builder, const GradientOptions& options)
      : builder_(builder), options_(options) {}

  Gradients run(const std::vector<NodeRef>& outputs, const std::vector<NodeRef>& seeds,
                const std::vector<NodeRef>& wrt, bool keep_wide = false);

  // For the rules.
  Builder& builder() { return builder_; }
  const GradientOptions& options() const { return options_; }
  /// Whether the source's adjoint leads to something that is asked for.
  bool wants(const NodeRef& source) const { return active_.contains(source.get()); }
  /// Adds to the source's adjoint, in its dtype or the wide one.
  void give(const NodeRef& source, NodeRef contribution);
  NodeRef widened(const NodeRef& x);
  NodeRef zeros(const NodeRef& like, DType dtype);
  /// By result, of an IF, LOOP or CALL: null where nothing came.
  std::vector<NodeRef> adjoints_of_results(const NodeRef& region);
  /// What a device name of the source would be: of the nearest COPY, or its param's.
  const std::string& device_of(const NodeRef& source);
  const Tape* tape_of(const NodeRef& region) const;
  /// The adjoints of a graph as a graph: takes its params, then a seed for each output of
  /// `seeded`; gives an adjoint for each param of `wrt` (zeros where there is none). Float adjoints
  /// are of the param's dtype, or the wide one. One graph for one question.
  GraphRef adjoint_graph(const GraphRef& graph, const std::vector<bool>& seeded,
                         const std::vector<bool>& wrt, bool keep_wide = false);
  /// What a product that this node is a factor or moved factor of may be cut to.
  Precision precision_of(const Node& node) const;
  void set_precision(const Node& node, Precision precision);

 private:
  struct Question {
    const Graph* graph;
    std::vector<bool> seeded, wrt;
    bool keep_wide;
    auto operator<=>(const Question&) const = default;
  };

  void find_active(const std::vector<NodeRef>& order, const std::vector<NodeRef>& wrt);
  NodeRef sum_of(std::span<const NodeRef> given, DType dtype);
  NodeRef total(const NodeRef& node, DType dtype);
  /// What differentiates a node in parts: what contractions give to a factor that they repeat stays
  /// apart, and each part is summed by itself.
  std::vector<NodeRef> adjoints_of(const NodeRef& node);
  void differentiate(const NodeRef& node, const NodeRef& adjoint);

  Builder& builder_;
  const GradientOptions& options_;
  std::vector<NodeRef> order_;  ///< from the leaves to the outputs
  FlatMap<const Node*, char> active_;
  FlatMap<const Node*, std::string> devices_;
  FlatMap<const Node*, std::vector<NodeRef>> contributions_;
  FlatMap<const Node*, std::vector<NodeRef>> siblings_;  ///< by the first result of a region
  FlatMap<const Node*, Precision> precisions_;
  std::map<const Node*, Tape> tapes_;  ///< by each result
  std::map<Question, GraphRef> adjoint_graphs_;
  std::vector<GraphRef> alive_;  ///< keys of adjoint_graphs_

  friend class Taping;
};

/// Which of the outputs have an adjoint that reaches one of `wrt`.
std::vector<bool> reached(const std::vector<NodeRef>& outputs, const std::vector<NodeRef>& wrt);

}  // namespace tenon::autodiff
