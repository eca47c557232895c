// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guards of padded axes: which are active at the current position, their conditions, and the part
// of a loop that needs none (loop peeling).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/lower/positions.hpp"

namespace tenon {

class Guards {
 public:
  Guards(const Kernel& kernel, Positions& positions);

  /// Conditions of the active guards on one of these axes. `uniform`: conditions that are necessary
  /// in every lane.
  std::vector<Expr> conditions(const AxisSet& concerned, bool uniform) const;

  /// True if an active guard on one of these axes also depends on `axis`.
  bool ask(const AxisSet& concerned, int axis) const;

  /// True if every active guard on one of `axes` is also on one of `others`.
  bool concern_both(const AxisSet& axes, const AxisSet& others) const;

  /// True if one of these guards is on one of the axes.
  bool concern(const std::vector<size_t>& guards, const AxisSet& axes) const;

  /// Guards that hold in a loop's iterations [0, full), where they can be switched off.
  struct Peel {
    std::vector<size_t> guards;
    std::vector<size_t> implied;  ///< of inner loops; they hold there too
    Expr full;
    Expr end;  ///< from here on no point is in range and no tile needs a fill
  };
  Peel peel(int axis) const;
  /// Guards that a store to a tile can ignore: out-of-range points are filled.
  std::vector<size_t> filled(int buffer) const;
  /// Guards that a load can ignore: out-of-range points are within the tile, and no stored result
  /// depends on them.
  std::vector<size_t> ignorable(const KValue& load) const;

  void with_off(const std::vector<size_t>& guards, const std::function<void()>& emit);
  void with_off(const Peel& peel, const std::function<void()>& emit);
  void without_peeling(const std::function<void()>& emit);

 private:
  Expr condition(const Guard& guard, bool uniform) const;
  /// Iterations [0, full) of an axis in which a guard holds.
  struct Reach {
    Expr full;
    bool exact = true;  ///< it fails in all others, and no tile needs a fill there
  };
  /// `over_loops`: holds for all iterations of inner loops; else nothing if the guard depends on
  /// one.
  std::optional<Reach> reach(size_t guard, int axis, bool over_loops) const;

  const Kernel& kernel_;
  const Positions& positions_;
  std::vector<AxisSet> axes_;
  AxisSet summed_;  ///< axes of reductions
  std::vector<bool> off_;
  bool peels_ = true;
};

}  // namespace tenon
