// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Online softmax: a maximum and sums that depend on it, in one pass. A sum of terms exp(x - m) * y,
// where y does not depend on the maximum m, is rescaled by exp(m - n) when the running maximum
// grows from m to n (Milakov and Gimelshein, Online normalizer calculation for softmax, 2018).
#pragma once

#include <optional>

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// How terms depend on the maximum m: op((x - m) * scale), where op is EXP or EXP2.
struct Power {
  Op op = Op::EXP;
  std::optional<Scalar> scale;
  bool operator==(const Power&) const = default;
  KValueRef of(KValueRef x, KValueRef maximum) const;
};

/// A mask of positions: where it masks, the term of the maximum is a constant.
struct Masked {
  KValueRef condition;  ///< bool: unmasked
  bool negated = false;
  Scalar constant;
};

/// The operand of a widening float cast; null for other values.
KValueRef strip_widening(const KValueRef& value);

/// A term of a sum: weight * others. `outer` is applied to the whole sum.
struct RunningTerm {
  KValueRef weight;  ///< the power and other factors that do not depend on the sum's own loops;
                     ///< rounded where the term is
  std::vector<KValueRef> others;                ///< factors that depend on the sum's own loops
  std::vector<std::pair<Op, KValueRef>> outer;  ///< MUL or FDIV, in order of application
  bool is_power = false;                        ///< the weight is the power alone
  bool is_masked = false;                       ///< 0 where the term of the maximum is masked
};

/// A sum that depends on the maximum.
struct RunningSum {
  int id = -1, axis = -1;
  std::vector<int> own;  ///< its own loops: those between the tile's and the sum
  std::vector<ReduceState> states;
  std::vector<RunningTerm> terms;  ///< of the states
  std::vector<int> totals;         ///< tiles: a running total for each position of tile and own
  std::vector<int> weights;        ///< tiles of a block, of a sum with own loops
};

class RunningMaximum {
 public:
  /// `maximum`: a reduction by one loop with one state, a MAX.
  RunningMaximum(const Kernel& kernel, const Statement& maximum);

  const std::optional<Masked>& masked() const { return masked_; }

  /// Matches a term of a sum over `axis` with the own loops `own`. `power` is that of the sums
  /// before; the first sets it. In the result `element` replaces the term of the maximum and
  /// `powered` the power. Nothing if the sum cannot be rescaled when the maximum grows.
  std::optional<RunningTerm> match(const KValueRef& term, int axis, const AxisSet& own,
                                   std::optional<Power>& power, const KValueRef& element,
                                   const std::function<KValueRef(const Power&)>& powered);

 private:
  class TermMatcher;
  const Kernel& kernel_;
  const Statement& maximum_;
  int axis_ = -1;
  std::vector<const Statement*> reductions_;  ///< by number
  Dependence dependence_;
  std::optional<Masked> masked_;
};

/// Marks powers of (x - base), with the base from tile `bases`, as approximate if everything stored
/// here and all outputs of the kernel are rounded to 16-bit floats: the largest power is 1, and the
/// error of smaller ones is negligible in comparison.
void approximate_powers(const Kernel& kernel, int bases, std::vector<Statement>& statements);

/// max(maximum, lowest finite value): a maximum of -inf would make NaN.
KValueRef clamp_above_infinity(const KValueRef& maximum);

}  // namespace tenon
