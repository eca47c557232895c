// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the scheduler knows of every node before it cuts: cost and shape of the cone below it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/ir/node.hpp"
#include "core/schedule/schedule.hpp"
#include "core/support/flat_map.hpp"

namespace tenon::scheduling {

/// Sizes as plain numbers, for costs only: a symbol counts as 256, or the nearest in its bounds.
class SizeEstimate {
 public:
  explicit SizeEstimate(const std::vector<Expr>& symbols);
  double of(const Dim& dim) const;
  double of(const Shape& shape) const;
  const std::map<std::string, int64_t>& values() const { return values_; }

 private:
  std::map<std::string, int64_t> values_;
};

struct NodeAnalysis {
  double size = 1;           ///< elements
  float chain = 0;           ///< cost of one element of the elementwise run that ends here
  int leaves = 0;            ///< buffers at the ends of that run, about
  int views = 0;             ///< longest run of views that ends here
  bool needs_buffer = true;  ///< false: made of constants and positions alone
  bool trivial = false;      ///< a buffer, or a few casts, moves and scalings of one
  int depth = 0;             ///< most reductions on a path from an input
  bool epilogue = false;  ///< a REDUCE, or an elementwise run over one that waits for no later one
  double read = 0;        ///< bytes of buffers that the run reads, about
  bool is_prologue =
      false;  ///< part of a factor of a contraction that takes much more than it reads
  bool contraction = false;  ///< REDUCE of a product whose operands were expanded
};

/// The graph as indices: node i's sources come before it.
struct SchedulerInput {
  SchedulerInput(const Graph& graph, const ScheduleOptions& options);

  const Graph& graph;
  const ScheduleOptions& options;
  SizeEstimate estimate;
  std::vector<NodeRef> nodes;
  FlatMap<const Node*, int> index;
  std::vector<std::vector<int>> sources;
  std::vector<NodeAnalysis> analysis;
  std::vector<int> device;  ///< of each node; -1: anywhere

  const Node& node(int i) const { return *nodes[i]; }
  int at(const NodeRef& node) const { return index.at(node.get()); }
  const Capabilities& capabilities(int i) const;
  /// What a single element is a view of: kernels read that where they would read the view, so that
  /// no kernel is there to make one.
  int behind_view(int i) const;
};

/// The graph with other nodes: `change` gives one for number i and its sources as they are now, or
/// null for the same.
using ChangeNode = std::function<NodeRef(int i, const std::vector<NodeRef>& sources)>;
Graph with_changed_nodes(const SchedulerInput& input, Builder& builder, const ChangeNode& change);

/// An axis of known size as two: a block, and where in it. What the last block has beyond the end
/// is `fill`.
NodeRef with_blocks(Builder& builder, NodeRef x, int axis, int64_t count, int64_t length,
                    const Scalar& fill);

/// CONST, INDEX and the values of dimensions: never a buffer of their own unless they are outputs.
bool is_leaf(const Node& node);
bool is_param(const Node& node);  ///< an input buffer
/// Computed where it is used, element by element.
bool is_pointwise(const Node& node);
bool is_constant(const Node& node);  ///< behind views and casts
/// Neither a kernel nor part of one: COPY, IF, LOOP.
bool is_command(const Node& node);

}  // namespace tenon::scheduling
