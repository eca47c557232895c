// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the scheduler knows of each node before it cuts: the cost of the elementwise run below it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/ir/node.hpp"
#include "core/schedule/schedule.hpp"
#include "core/support/flat_map.hpp"

namespace tenon::scheduling {

/// Sizes as plain numbers, for costs only. A symbol counts as 256, clamped to its bounds.
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
  double size = 1;             ///< elements
  float elementwise_cost = 0;  ///< additions an element of the elementwise run that ends here
  int leaves = 0;              ///< buffers that the run reads, estimated
  int views = 0;               ///< longest run of views that ends here
  bool needs_buffer = true;    ///< false: computed from constants and positions alone
  bool trivial = false;        ///< a buffer, or casts, moves and scalings of one
  int depth = 0;               ///< most reductions on a path from an input
  bool epilogue = false;       ///< a REDUCE, or elementwise over one of the same depth
  double read = 0;             ///< bytes that the run reads, estimated
  bool is_prologue = false;    ///< part of a fused prologue of a contraction (prologue_fusion.hpp)
  bool contraction = false;    ///< REDUCE of a product whose operands were expanded
};

/// The graph with nodes as indices, in topological order.
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
  /// The source below views of a single element. Kernels read it directly, so that no kernel is
  /// needed to make the view.
  int strip_scalar_views(int i) const;
};

/// Rebuilds the graph. `change` gets node number i and its new sources, and returns its replacement
/// or null to keep it.
using ChangeNode = std::function<NodeRef(int i, const std::vector<NodeRef>& sources)>;
Graph with_changed_nodes(const SchedulerInput& input, Builder& builder, const ChangeNode& change);

/// Splits an axis of known size into `count` blocks of `length`; pads the last block with `fill`.
NodeRef with_blocks(Builder& builder, NodeRef x, int axis, int64_t count, int64_t length,
                    const Scalar& fill);

/// CONST, INDEX or the value of a dimension: materialised only as an output.
bool is_leaf(const Node& node);
bool is_param(const Node& node);  ///< an input buffer
/// A view, a cast or an elementwise op: computed element by element where it is used.
bool is_pointwise(const Node& node);
bool is_constant(const Node& node);  ///< a CONST, through views and casts
/// COPY, IF or LOOP: not part of a kernel.
bool is_command(const Node& node);

}  // namespace tenon::scheduling
