// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intervals for online softmax: its powers are products exp(x - m) * exp(m - n), and factors that
// are the same for all terms may be applied to the sum. Private to the module.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/interval/nodes.hpp"

namespace tenon::reference {

class OnlineSoftmaxSums {
 public:
  explicit OnlineSoftmaxSums(const std::vector<NodeRef>& order);

  /// exp(x - m), where m is the maximum of x.
  bool is_power(const Node& node) const { return powers_.contains(&node); }
  /// A sum of such powers times another factor.
  bool is_sum(const Node& node) const { return sums_.contains(&node); }
  /// The factors of the powers in such a sum, if there are several: one that is the same for all
  /// terms may be applied to the sum.
  const std::vector<const Node*>& factors(const Node& sum) const { return sums_.at(&sum); }
  /// A cast of such a factor to a narrower float.
  bool is_rounding(const Node& node) const { return roundings_.contains(&node); }
  /// A sum of products with a factor that a mask may make zero.
  bool is_masked(const Node& node) const { return masked_.contains(&node); }
  /// A product that is a factor of such terms and that a mask may make zero.
  bool is_masked_factor(const Node& node) const { return masked_factors_.contains(&node); }

 private:
  /// True if the node, a factor, is a power, through views, masks, divisions and products.
  bool finds_power(const Node& node) const;
  /// True if a WHERE can make the node, a factor, zero, through views, casts and products.
  bool finds_masked_zero(const Node& node) const;
  void find_roundings(const Node* factor);
  void find_masked_factors(const Node* term);
  void find_factors(const Node* node, std::vector<const Node*>& out,
                    std::unordered_set<const Node*>& seen) const;
  std::unordered_set<const Node*> powers_, roundings_, masked_, masked_factors_;
  std::unordered_set<const Node*> with_power_, may_be_zero_, looked_for_roundings_;
  std::unordered_map<const Node*, std::vector<const Node*>> sums_;
};

/// Widens powers: each difference in an exponent is rounded separately.
void allow_products(const IntervalArray& exponent, IntervalArray& powers);

/// Widens a rounded power by a unit in the last place: it may be rounded before it is divided.
void allow_early_rounding(const IntervalArray& x, IntervalArray& rounded);

/// A term with a zero from a mask may be left out, even if the other factor is infinite or NaN.
/// `a`, `b`: the factors.
void allow_left_out(const Node& sum, const IntervalArray& a, const IntervalArray& b,
                    IntervalArray& out);
/// So the product with such a zero is 0 or the IEEE result. `x`, `y`: the factors.
void allow_zero(const IntervalArray& x, const IntervalArray& y, IntervalArray& product);

/// allow_left_out; and factors may be applied to the sum instead of the terms, so that the sum may
/// overflow, or flush subnormals, where terms do not.
void allow_late_factors(const Node& sum, const IntervalArray& a, const IntervalArray& b,
                        const std::vector<const IntervalArray*>& factors, IntervalArray& out);

}  // namespace tenon::reference
