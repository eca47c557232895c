// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensorized reductions: fragments are loaded, multiplied, carried like other accumulators, and
// stored into the tile of their subgroup.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/lower/launch_places.hpp"
#include "core/lower/leaves.hpp"

namespace tenon {

/// How a reduction is done with atoms.
struct AtomProduct {
  MatrixProduct product;
  const MatrixAtom* atom = nullptr;
};

class MatrixSums {
 public:
  using Value = OpTree::Value;
  MatrixSums(const Kernel& kernel, const Capabilities& capabilities, KernelOps& ops,
             Positions& positions, const LaunchPlaces& places, ProgramParams& params,
             IndexExprs& exprs, Leaves& leaves)
      : kernel_(kernel),
        capabilities_(capabilities),
        ops_(ops),
        positions_(positions),
        places_(places),
        params_(params),
        exprs_(exprs),
        leaves_(leaves) {}

  /// Nothing if the reduction is not tensorized. `subgroup`: its threads.
  std::optional<AtomProduct> product(const Statement& reduction, uint32_t subgroup) const;
  /// Another step where the walk stands.
  Value step(const AtomProduct& p, Value sum);

  /// A reduction has ended: a fragment for each of its instances.
  void keep(int reduction, const AtomProduct& p, std::vector<Value> fragments);
  /// Stores the sums that a kMatrix statement takes or puts, for the copy where the walk stands.
  void store(const Statement& s);

  // Reductions that continue
  void begin(const Statement& s);
  void end(const Statement& s);
  /// What a reduction that continues starts with, for each instance of what follows `outside`.
  std::vector<Value> before(const Statement& reduction, const AtomProduct& p,
                            const AxisSet& outside);
  std::vector<Value>& carried(int reduction) { return sums_.at(reduction).fragments; }

 private:
  const Statement& reduction(int id) const;
  std::vector<Value> operands(const Statement& s) const;
  static uint64_t role(const Statement& s, const MatrixAtom& atom);
  /// Of the lanes of a fragment, in a tile of registers.
  static std::vector<int64_t> offsets(const Statement& s, const MatrixAtom& atom);
  void put(const Statement& s, const MatrixAtom& atom, Value fragment);
  Value scale_of_rows(const KValue& scale, const MatrixAtom& atom);

  struct Sums {
    const MatrixAtom* atom = nullptr;
    std::vector<int> jam;  ///< that was open around the reduction
    std::vector<Value> fragments;
  };

  const Kernel& kernel_;
  const Capabilities& capabilities_;
  KernelOps& ops_;
  Positions& positions_;
  const LaunchPlaces& places_;
  ProgramParams& params_;
  IndexExprs& exprs_;
  Leaves& leaves_;
  std::map<int, Sums> sums_;  ///< of reductions that have ended
};

}  // namespace tenon
