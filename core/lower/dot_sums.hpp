// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions with a loop bound to dot, whose iterations are one DOT.
#pragma once

#include <optional>

#include "core/kernel/tree/dot.hpp"
#include "core/lower/leaves.hpp"

namespace tenon {

struct DotProduct {
  int axis = -1;
  DotFactors factors;
  DType sum = DType::kVoid;
};

class DotSums {
 public:
  using Value = OpTree::Value;
  DotSums(const Kernel& kernel, const Capabilities& capabilities, KernelOps& ops,
          Positions& positions, Guards& guards, Leaves& leaves)
      : kernel_(kernel),
        capabilities_(capabilities),
        ops_(ops),
        positions_(positions),
        guards_(guards),
        leaves_(leaves) {}

  /// Nothing if no loop of the reduction is bound to dot.
  std::optional<DotProduct> product(const Statement& reduction) const;
  /// True if the current step can be a DOT: no guard separates the elements of the DOT or its
  /// lanes. `own`: the reduction's axes.
  bool is_whole(const DotProduct& p, const AxisSet& own) const;
  /// Emits a step; returns the new sum.
  Value step(const DotProduct& p, Value sum);

  // The excess that a biased factor adds: one sum for each instance of the other factor.
  AxisSet axes_of_excess(const DotProduct& p) { return positions_.axes_of(p.factors.y); }
  Value step_of_excess(const DotProduct& p, Value excess);
  Value without_excess(const DotProduct& p, Value sum, Value excess);

 private:
  uint64_t bias(const DotProduct& p) const;
  static DType unsigned_of(DType dtype);

  const Kernel& kernel_;
  const Capabilities& capabilities_;
  KernelOps& ops_;
  Positions& positions_;
  Guards& guards_;
  Leaves& leaves_;
};

}  // namespace tenon
