// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums that follow a maximum over an axis of the same length. A term exp(x - m) times what m has no
// part in repairs itself where a running maximum grows from m to n: it is multiplied by exp(m - n).
// So both go over the axis at once (Milakov and Gimelshein, Online normalizer calculation for
// softmax, 2018).
#pragma once

#include <optional>

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// How the terms depend on the maximum m: op((x - m) * scale), op being EXP or EXP2.
struct Power {
  Op op = Op::EXP;
  std::optional<Scalar> scale;
  bool operator==(const Power&) const = default;
  KValueRef of(KValueRef x, KValueRef maximum) const;
};

/// What a mask of positions hides: there the term of the maximum is a constant.
struct Hidden {
  KValueRef condition;  ///< bool: shown
  bool negated = false;
  Scalar constant;
};

/// The narrower float that a cast to a wider one takes; null if the value is no such cast.
KValueRef before_widening(const KValueRef& value);

/// A term of a sum: weight * others, with `outer` done to the whole sum.
struct RunningTerm {
  KValueRef weight;  ///< the power, and what else the sum's own loops have no part in; rounded
                     ///< where terms are, before what is done to the whole sum
  std::vector<KValueRef> others;                ///< factors that follow these loops
  std::vector<std::pair<Op, KValueRef>> outer;  ///< MUL or FDIV, in the order to be done
  bool is_power = false;                        ///< the weight is the power alone
  bool is_hidden = false;                       ///< 0 where the term of the maximum is hidden
};

/// A sum that follows the maximum.
struct RunningSum {
  int id = -1, axis = -1;
  std::vector<int> own;  ///< loops around it inside those of the tile
  std::vector<ReduceState> states;
  std::vector<RunningTerm> terms;  ///< of the states
  std::vector<int> totals;         ///< tiles: a running total for each position of tile and own
  std::vector<int> weights;        ///< tiles of a block, of a sum with own loops
};

class RunningMaximum {
 public:
  /// `maximum`: a reduction by one loop with one state, a MAX.
  RunningMaximum(const Kernel& kernel, const Statement& maximum);

  const std::optional<Hidden>& hidden() const { return hidden_; }

  /// A sum over `axis` with loops of its own, as it follows the maximum. `power`: of the sums
  /// before it; set by the first. `element` stands for the term of the maximum, `powered` for
  /// power. Nothing where the term does not repair itself.
  std::optional<RunningTerm> follow(const KValueRef& term, int axis, const AxisSet& own,
                                    std::optional<Power>& power, const KValueRef& element,
                                    const std::function<KValueRef(const Power&)>& powered);

 private:
  class Follower;
  const Kernel& kernel_;
  const Statement& maximum_;
  int axis_ = -1;
  std::vector<const Statement*> reductions_;  ///< by number
  Dependence dependence_;
  std::optional<Hidden> hidden_;
};

/// Powers of the difference to the base in tile `bases` may be less exact where all that is stored
/// of them, and all that the kernel gives, is rounded to floats of 16 bits: the largest power is 1,
/// and what smaller ones miss is nothing beside it.
void approximate_powers(const Kernel& kernel, int bases, std::vector<Statement>& statements);

/// Above -inf, so that what has seen nothing else does not make NaN.
KValueRef above_infinity(const KValueRef& maximum);

}  // namespace tenon
