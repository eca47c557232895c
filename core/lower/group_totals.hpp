// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workgroup reductions: combines partial results of threads by subgroup shuffles, if the device has
// them, and then in shared memory.
#pragma once

#include <vector>

#include "core/ir/capabilities.hpp"
#include "core/lower/launch_dims.hpp"
#include "core/lower/program_params.hpp"

namespace tenon {

class GroupTotals {
 public:
  using Value = OpTree::Value;
  GroupTotals(const Capabilities& capabilities, KernelOps& ops, LaunchDims& launch,
              ProgramParams& params)
      : capabilities_(capabilities), ops_(ops), launch_(launch), params_(params) {}

  /// Combines the parts that the threads along an axis hold, one for each instance and state,
  /// states fastest. Every thread gets the totals.
  std::vector<Value> totals(const std::vector<ReduceState>& states, const KernelAxis& group,
                            std::vector<Value> parts);

 private:
  /// Number of consecutive threads, of `width` on block.x, that can shuffle their parts; 1: none.
  int64_t shuffled_threads(int64_t width, const std::vector<Value>& parts) const;
  Value shuffled_total(const ReduceState& state, Value part, int64_t threads);

  const Capabilities& capabilities_;
  KernelOps& ops_;
  LaunchDims& launch_;
  ProgramParams& params_;
};

}  // namespace tenon
