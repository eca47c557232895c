// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extracts one kernel as a graph of its own: what it reads from memory becomes params.
#pragma once

#include <functional>
#include <vector>

#include "core/schedule/cut.hpp"
#include "core/schedule/group.hpp"

namespace tenon::scheduling {

struct KernelGraph {
  Graph graph;
  std::vector<int> reads;  ///< node that each param reads; for a STORE [0] is what it updates
  std::vector<size_t> reads_before;  ///< for each output: number of reads of the outputs before it
  bool reads_updated = false;        ///< a STORE whose index or values read what it updates
};

/// Writes `outputs`. `computed` are all nodes with buffers that this kernel computes rather than
/// reads. `name_of` gives each param a unique name.
KernelGraph kernel_graph(const SchedulerInput& input, const Cut& cut,
                         const std::vector<int>& outputs, const std::vector<int>& computed,
                         const std::function<std::string(int)>& name_of, Builder& builder);

/// The symbols in `all` that the graph of `outputs` uses.
std::vector<Expr> symbols_used(const std::vector<NodeRef>& outputs, const std::vector<Expr>& all);

}  // namespace tenon::scheduling
