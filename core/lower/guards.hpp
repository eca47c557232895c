// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guards of padded axes: which are on where the walk stands, what they ask there, and which part of
// a loop needs none of them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/lower/positions.hpp"

namespace tenon {

class Guards {
 public:
  Guards(const Kernel& kernel, Positions& positions);

  /// Conditions of the guards that are on and concern one of these axes. `uniform`: for what may be
  /// the same in all lanes.
  std::vector<Expr> conditions(const AxisSet& concerned, bool uniform) const;

  /// Whether one that is on, and concerns one of these axes, asks where an axis stands.
  bool ask(const AxisSet& concerned, int axis) const;

  /// Whether each that is on, and concerns one of `axes`, concerns one of `others` too.
  bool concern_both(const AxisSet& axes, const AxisSet& others) const;

  /// Whether one of these guards concerns one of the axes.
  bool concern(const std::vector<size_t>& guards, const AxisSet& axes) const;

  /// Guards that hold in a loop's iterations [0, full): those to switch off there.
  struct Peel {
    std::vector<size_t> guards;
    std::vector<size_t> implied;  ///< of loops further in: they hold there too
    Expr full;
    Expr end;  ///< nothing is real, and no tile wants a fill, from here on
  };
  Peel peel(int axis) const;
  /// Those that a store into a tile need not heed: its positions are all there.
  std::vector<size_t> filled(int buffer) const;
  /// Those that a load need not heed: of a tile that is there for points that are not real, and
  /// nothing that is stored comes of them.
  std::vector<size_t> unfelt(const KValue& load) const;

  void with_off(const std::vector<size_t>& guards, const std::function<void()>& emit);
  void with_off(const Peel& peel, const std::function<void()>& emit);
  void without_peeling(const std::function<void()>& emit);

 private:
  Expr condition(const Guard& guard, bool uniform) const;
  /// How far a guard holds along an axis.
  struct Reach {
    Expr full;
    bool exact = true;  ///< not further, and no tile wants a fill
  };
  /// `over_loops`: for all iterations of the loops further in; else nothing where there are any.
  std::optional<Reach> reach(size_t guard, int axis, bool over_loops) const;

  const Kernel& kernel_;
  const Positions& positions_;
  std::vector<AxisSet> axes_;
  AxisSet summed_;  ///< axes of reductions
  std::vector<bool> off_;
  bool peels_ = true;
};

}  // namespace tenon
