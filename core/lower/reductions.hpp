// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions: accumulators for each copy of the jam, and partial ones for each copy of an unrolled
// reduce axis and each lane, which are merged after the loops.
//
// The emitter calls begin, step and end, and lets each loop of a reduce axis carry the
// accumulators.
#pragma once

#include <optional>
#include <vector>

#include "core/lower/dot_sums.hpp"
#include "core/lower/group_totals.hpp"
#include "core/lower/matrix_sums.hpp"

namespace tenon {

class Reductions {
 public:
  using Value = OpTree::Value;
  Reductions(const Kernel& kernel, const Capabilities& capabilities, KernelOps& ops,
             Positions& positions, LaunchDims& launch, Guards& guards, IndexExprs& exprs,
             Leaves& leaves, MatrixSums& matrix_sums, DotSums& dot_sums, GroupTotals& group_totals)
      : kernel_(kernel),
        capabilities_(capabilities),
        ops_(ops),
        positions_(positions),
        launch_(launch),
        guards_(guards),
        exprs_(exprs),
        leaves_(leaves),
        matrix_sums_(matrix_sums),
        dot_sums_(dot_sums),
        group_totals_(group_totals) {}

  void begin(const Statement& s);
  void step();
  void end();  ///< passes the results to Leaves, or fragments to MatrixSums
  /// Accumulators of the innermost open reduction.
  std::vector<Value>& accumulators() { return open_.back().accumulators; }

 private:
  /// Accumulators are indexed (instance * copies + copy) * states + state. After them come those of
  /// the excess of a biased dot product (dot_sums.hpp), by instances of the other factor.
  struct Open {
    const Statement* statement = nullptr;
    AxisSet own, outside;
    int instances = 1, copies = 1, lanes = 1;
    bool lane_partials = false;  ///< lanes hold partial results of one total
    bool along_lanes = false;    ///< a scan along lanes
    int group_axis = -1;
    std::optional<AtomProduct> matrix;
    std::optional<DotProduct> dot;
    size_t sums = 0;  ///< number of accumulators, without those of an excess
    std::vector<Value> accumulators;
  };
  void step_elements(Open& open);
  /// True if both factors are loads that give 0 in out-of-range lanes.
  bool is_zero_beyond(const Open& open, const KValue& product) const;
  void step_dots(Open& open);
  void subtract_excess(const Open& open, std::vector<Value>& totals);
  /// The mask of in-range points at the current position; nothing: all are.
  std::optional<Value> mask(const Open& open);
  struct Term {
    Value value = 0;
    uint32_t flags = 0;  ///< of the op that combines it
  };
  Term term(const Open& open, const ReduceState& state, std::optional<Value> in_range);
  /// A step of a running reduction: sets the prefix result for the statements after it, and returns
  /// the accumulator for later steps. `term`: nothing if the step adds none.
  Value scan_step(const Open& open, size_t k, Value sum, std::optional<Value> term);
  /// Prefix reduction over lanes.
  Value prefixes(Op code, DType dtype, Value v);
  Value merge(Op code, DType dtype, std::vector<Value> parts);
  Value lane_total(Op code, DType dtype, Value v);

  const Kernel& kernel_;
  const Capabilities& capabilities_;
  KernelOps& ops_;
  Positions& positions_;
  LaunchDims& launch_;
  Guards& guards_;
  IndexExprs& exprs_;
  Leaves& leaves_;
  MatrixSums& matrix_sums_;
  DotSums& dot_sums_;
  GroupTotals& group_totals_;
  std::vector<Open> open_;  ///< innermost last
};

}  // namespace tenon
