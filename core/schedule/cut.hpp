// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Partitions a graph into kernels by deciding which nodes are materialised.
//
// Walks from the outputs down. A node is inlined into the kernels that read it if that costs no
// more than a round trip through memory; else it is the root of its own kernel. Costs come from the
// loop variables that its index depends on: a kernel evaluates a node once for each value of
// these, so a node that depends on more variables than its size needs is recomputed.
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

/// The reductions of a kernel. All have the same row space and length.
struct ReduceClass {
  bool any = false, contraction = false;
  uint64_t row = 0;  ///< loop variables of the row space
  double row_size = 1, length = 1;
  bool operator==(const ReduceClass&) const = default;
};

struct CutRead {
  int node = 0;
  bool identity = true;  ///< every read is at the position that the kernel writes
};

struct CutKernel {
  int root = 0;
  std::vector<int> extra_outputs;  ///< besides the root; one element for each row
  std::vector<LoopVariable> variables;
  uint64_t root_variables = 0;
  IndexMap identity;
  ReduceClass reduces;
  std::unordered_set<int> open;  ///< materialised nodes that it may come to read
  std::vector<CutRead> reads;
  int size = 1;  ///< nodes
  int reductions = 0;
};

struct Cut {
  std::vector<CutKernel> kernels;  ///< see cut_order.hpp for their order
  std::vector<int> buffer_of;      ///< node whose buffer holds this node's value; -1: inlined
};

/// For each dimension of `shape` the axis of `whole` with the same size, in order; -1 for size 1.
/// Nothing if a dimension has no such axis.
std::optional<std::vector<int>> axes_in(const Shape& shape, const Shape& whole);

/// Most bindings of a kernel on the device of node i.
int binding_limit(const SchedulerInput& input, int i);

/// Inlines the fused nodes of each online softmax and each rematerialised group into the kernels
/// of their roots, as far as limits allow. Throws kUnsupported if one op has more operands than the
/// device binds.
Cut cut(const SchedulerInput& input, const std::vector<OnlineSoftmax>& softmaxes = {},
        const std::vector<Rematerialised>& rematerialised = {});

}  // namespace tenon::scheduling
