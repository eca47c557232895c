// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensorized reductions: loads fragments, multiplies them, carries accumulators, stores them to
// tiles.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/lower/launch_dims.hpp"
#include "core/lower/leaves.hpp"

namespace tenon {

/// The operands and atom of a tensorized reduction.
struct AtomProduct {
  MatrixProduct product;
  const MatrixAtom* atom = nullptr;
};

class MatrixSums {
 public:
  using Value = OpTree::Value;
  MatrixSums(const Kernel& kernel, const Capabilities& capabilities, KernelOps& ops,
             Positions& positions, const LaunchDims& launch, ProgramParams& params,
             IndexExprs& exprs, Leaves& leaves)
      : kernel_(kernel),
        capabilities_(capabilities),
        ops_(ops),
        positions_(positions),
        launch_(launch),
        params_(params),
        exprs_(exprs),
        leaves_(leaves) {}

  /// Nothing if the reduction is not tensorized. `subgroup`: threads of a subgroup.
  std::optional<AtomProduct> product(const Statement& reduction, uint32_t subgroup) const;
  /// Emits a step at the current position; returns the new sum.
  Value step(const AtomProduct& p, Value sum);

  /// Records the fragments of a finished reduction, one for each instance.
  void set_fragments(int reduction, const AtomProduct& p, std::vector<Value> fragments);
  /// Stores the sums of a kTake or kPut, for the current copy.
  void store(const Statement& s);

  // Carried reductions
  void begin(const Statement& s);
  void end(const Statement& s);
  /// Initial values of a carried reduction, for each instance over the axes `outside`.
  std::vector<Value> before(const Statement& reduction, const AtomProduct& p,
                            const AxisSet& outside);
  std::vector<Value>& carried(int reduction) { return sums_.at(reduction).fragments; }

 private:
  const Statement& reduction(int id) const;
  std::vector<Value> operands(const Statement& s) const;
  static uint64_t role(const Statement& s, const MatrixAtom& atom);
  /// Offsets of a fragment's lanes in a register tile.
  static std::vector<int64_t> offsets(const Statement& s, const MatrixAtom& atom);
  void put(const Statement& s, const MatrixAtom& atom, Value fragment);
  Value scale_of_rows(const KValue& scale, const MatrixAtom& atom);

  struct Sums {
    const MatrixAtom* atom = nullptr;
    std::vector<int> jam;  ///< open unrolled axes around the reduction
    std::vector<Value> fragments;
  };

  const Kernel& kernel_;
  const Capabilities& capabilities_;
  KernelOps& ops_;
  Positions& positions_;
  const LaunchDims& launch_;
  ProgramParams& params_;
  IndexExprs& exprs_;
  Leaves& leaves_;
  std::map<int, Sums> sums_;  ///< of finished reductions
};

}  // namespace tenon
