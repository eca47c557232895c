// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The backward sweep from the outputs of a graph to the nodes of `wrt`. Private to core/autodiff.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "core/autodiff/autodiff.hpp"
#include "core/support/flat_map.hpp"

namespace tenon::autodiff {

/// The dtype of adjoint arithmetic: f32 for narrower floats, else the dtype itself.
DType wide(DType dtype);

/// A LOOP that saves the states that its gradient needs.
struct Tape {
  std::vector<NodeRef> saved;   ///< by carried value: [trips, its shape..], or null
  NodeRef trips;                ///< number of iterations run: i64[]
  Dim rows;                     ///< upper bound of trips
  double room = 0;              ///< bytes left for further values saved by each iteration
  std::vector<NodeRef> values;  ///< saved reductions of iterations, [trips, their shapes..]
  /// Computes the adjoints of one iteration; see loop_rules.cpp. Saved reductions are its last
  /// params.
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
  /// Whether the adjoint of the source contributes to a gradient of `wrt`.
  bool needs_adjoint(const NodeRef& source) const { return active_.contains(source.get()); }
  /// Adds to the adjoint of the source. The contribution has its dtype or the wide one.
  void accumulate(const NodeRef& source, NodeRef contribution);
  NodeRef widened(const NodeRef& x);
  NodeRef zeros(const NodeRef& like, DType dtype);
  /// Adjoints of the results of an IF, LOOP or CALL; null where there is none.
  std::vector<NodeRef> adjoints_of_results(const NodeRef& region);
  /// The device of the source: that of the nearest COPY, or of its param.
  const std::string& device_of(const NodeRef& source);
  const Tape* tape_of(const NodeRef& region) const;
  /// The adjoints of a graph as a graph. Its params are those of the graph and a seed for each
  /// output in `seeded`; its results are an adjoint for each param in `wrt` (zeros where there is
  /// none), of the dtype of the param or the wide one. Cached.
  GraphRef adjoint_graph(const GraphRef& graph, const std::vector<bool>& seeded,
                         const std::vector<bool>& wrt, bool keep_wide = false);
  /// The precision allowed for contractions that use this node as a factor.
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
  /// The parts of the adjoint of a node. Outer products, which a sum turns into contractions, stay
  /// separate parts, so that each is summed by itself.
  std::vector<NodeRef> adjoints_of(const NodeRef& node);
  void differentiate(const NodeRef& node, const NodeRef& adjoint);

  Builder& builder_;
  const GradientOptions& options_;
  std::vector<NodeRef> order_;  ///< topological, leaves first
  FlatMap<const Node*, char> active_;
  FlatMap<const Node*, std::string> devices_;
  FlatMap<const Node*, std::vector<NodeRef>> contributions_;
  FlatMap<const Node*, std::vector<NodeRef>> siblings_;  ///< results of a region, by the first one
  FlatMap<const Node*, Precision> precisions_;
  std::map<const Node*, Tape> tapes_;  ///< by each result
  std::map<Question, GraphRef> adjoint_graphs_;
  std::vector<GraphRef> alive_;  ///< keeps the keys of adjoint_graphs_ alive

  friend class Taping;
};

}  // namespace tenon::autodiff
