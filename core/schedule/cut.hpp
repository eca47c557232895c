// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides which nodes get a buffer, and thereby where kernels begin and end.
//
// Walks from the outputs down. A node is computed inside the kernel of its consumers ("inlined")
// where that costs no more than a round trip through memory; else it is the root of a kernel of its
// own. Costs come from the loop variables that its index depends on: a kernel evaluates a node once
// for each value of those, so a node that depends on more than its own size needs is recomputed.
#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "core/schedule/axis_map.hpp"
#include "core/schedule/node_analysis.hpp"
#include "core/schedule/patterns/online_softmax.hpp"
#include "core/schedule/patterns/rematerialised.hpp"

namespace tenon::scheduling {

struct LoopVariable {
  double size = 1;
  uint64_t context = 0;  ///< itself and the variables of the loops around it
  bool contraction = false;
};

/// Which reductions a kernel holds: all have one row space and one length.
struct ReduceClass {
  bool any = false, contraction = false;
  uint64_t row = 0;  ///< loop variables of the row space
  double row_size = 1, length = 1;
  bool operator==(const ReduceClass&) const = default;
};

struct CutRead {
  int node = 0;
  bool identity = true;  ///< only at the kernel's own position
};

struct CutKernel {
  int root = 0;
  std::vector<int> also;  ///< other outputs, of one element for each row
  std::vector<LoopVariable> variables;
  uint64_t root_variables = 0;
  IndexMap identity;
  ReduceClass reduces;
  std::unordered_set<int> open;  ///< nodes with buffers that it may come to read
  std::vector<CutRead> reads;
  int size = 1;  ///< nodes
  int reductions = 0;
};

struct Cut {
  std::vector<CutKernel> kernels;  ///< in an order of in_order (cut_order.hpp)
  std::vector<int> buffer_of;      ///< node whose buffer holds this node's value; -1: inlined
};

/// Which axis of `whole` each dimension of `shape` stands for, in their order; -1: a size of 1.
/// Nothing where one has none.
std::optional<std::vector<int>> axes_in(const Shape& shape, const Shape& whole);

/// Bindings that a kernel on the device of node i may have.
int binding_limit(const SchedulerInput& input, int i);

/// What is inside a chain is inlined into its root's kernel, and what is recomputed into those of
/// its roots, as far as that fits. Throws kUnsupported where one op alone has more operands than
/// the device binds.
Cut cut(const SchedulerInput& input, const std::vector<OnlineSoftmax>& softmaxes = {},
        const std::vector<Rematerialised>& recomputed = {});

}  // namespace tenon::scheduling
