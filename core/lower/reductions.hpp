// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions: accumulators for each copy of the jam, partial ones for each copy of an unrolled
// reduce axis and each lane, merged when the loops are done.
//
// Whoever walks the tree says where a reduction begins and ends, and lets each loop of a reduce
// axis carry the accumulators.
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
             Positions& positions, LaunchPlaces& places, Guards& guards, IndexExprs& exprs,
             Leaves& leaves, MatrixSums& matrix_sums, DotSums& dot_sums, GroupTotals& group_totals)
      : kernel_(kernel),
        capabilities_(capabilities),
        ops_(ops),
        positions_(positions),
        places_(places),
        guards_(guards),
        exprs_(exprs),
        leaves_(leaves),
        matrix_sums_(matrix_sums),
        dot_sums_(dot_sums),
        group_totals_(group_totals) {}

  void begin(const Statement& s);
  void step();
  void end();  ///< gives the results to the leaves, or the sums to the statement that takes them
  /// Of the reduction that is open.
  std::vector<Value>& accumulators() { return open_.back().accumulators; }

 private:
  /// Accumulators are indexed (instance * copies + copy) * states + state; after them those of what
  /// a biased factor of a dot product adds too much, by instances of the other.
  struct Open {
    const Statement* statement = nullptr;
    AxisSet own, outside;
    int instances = 1, copies = 1, lanes = 1;
    bool lane_partials = false;  ///< lanes hold parts of one total
    bool along_lanes = false;    ///< a running one: each lane follows those before it
    int group_axis = -1;
    std::optional<AtomProduct> matrix;
    std::optional<DotProduct> dot;
    size_t sums = 0;  ///< accumulators without those of an excess
    std::vector<Value> accumulators;
  };
  void step_elements(Open& open);
  /// Whether both factors are loads that give 0 in lanes that are not real.
  bool is_zero_beyond(const Open& open, const KValue& product) const;
  void step_dots(Open& open);
  void take_excess_away(const Open& open, std::vector<Value>& totals);
  /// What says which points are real where the walk stands; none: all are.
  std::optional<Value> mask(const Open& open);
  struct Term {
    Value value = 0;
    uint32_t flags = 0;  ///< of what combines it
  };
  Term term(const Open& open, const ReduceState& state, std::optional<Value> real);
  /// Of a running reduction: gives the result so far to what stands after the step, and the
  /// accumulator for the steps after it. Without a term there is nothing to add.
  Value run_on(const Open& open, size_t k, Value sum, std::optional<Value> term);
  /// Each lane combined with all before it.
  Value prefixes(Op code, DType dtype, Value v);
  Value merge(Op code, DType dtype, std::vector<Value> parts);
  Value lane_total(Op code, DType dtype, Value v);

  const Kernel& kernel_;
  const Capabilities& capabilities_;
  KernelOps& ops_;
  Positions& positions_;
  LaunchPlaces& places_;
  Guards& guards_;
  IndexExprs& exprs_;
  Leaves& leaves_;
  MatrixSums& matrix_sums_;
  DotSums& dot_sums_;
  GroupTotals& group_totals_;
  std::vector<Open> open_;  ///< innermost last
};

}  // namespace tenon
