// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes one kernel as a graph of its own: what it reads from memory becomes params.
#pragma once

#include <functional>
#include <vector>

#include "core/schedule/cut.hpp"
#include "core/schedule/group.hpp"

namespace tenon::scheduling {

struct KernelGraph {
  Graph graph;
  std::vector<int> reads;      ///< node behind each param; for a STORE [0] is what it updates
  std::vector<size_t> before;  ///< reads that the outputs before each output have
  bool reads_updated = false;  ///< a STORE whose index or values read what it updates
};

/// `outputs` are written; `inside` are the other roots that are computed here too. `name_of` gives
/// the param of a node a name that no other has.
KernelGraph kernel_graph(const SchedulerInput& input, const Cut& cut,
                         const std::vector<int>& outputs, const std::vector<int>& inside,
                         const std::function<std::string(int)>& name_of, Builder& builder);

/// The symbols among `all` that the nodes below the outputs use.
std::vector<Expr> symbols_used(const std::vector<NodeRef>& outputs, const std::vector<Expr>& all);

}  // namespace tenon::scheduling
