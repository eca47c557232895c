// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of a total that the threads of a workgroup hold: those of a subgroup meet by shuffles,
// where the device has them, all others in shared memory.
#pragma once

#include <vector>

#include "core/ir/capabilities.hpp"
#include "core/lower/launch_places.hpp"
#include "core/lower/program_params.hpp"

namespace tenon {

class GroupTotals {
 public:
  using Value = OpTree::Value;
  GroupTotals(const Capabilities& capabilities, KernelOps& ops, LaunchPlaces& places,
              ProgramParams& params)
      : capabilities_(capabilities), ops_(ops), places_(places), params_(params) {}

  /// Of the parts that threads along the axis have of each state of each instance, the states in
  /// turns. Every thread gets the totals.
  std::vector<Value> totals(const std::vector<ReduceState>& states, const KernelAxis& group,
                            std::vector<Value> parts);

 private:
  /// How many of `width` threads on block.x, side by side, can shuffle their parts; 1: none.
  int64_t shuffled_threads(int64_t width, const std::vector<Value>& parts) const;
  Value shuffled_total(const ReduceState& state, Value part, int64_t threads);

  const Capabilities& capabilities_;
  KernelOps& ops_;
  LaunchPlaces& places_;
  ProgramParams& params_;
};

}  // namespace tenon
