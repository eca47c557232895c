// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel may answer that goes over an axis once with a maximum and the sums that follow it:
// its powers come as products, exp(x - m) exp(m - n), and what is the same for all terms is done
// to the sum. Private to the module.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/interval/nodes.hpp"

namespace tenon::reference {

class OnlineSoftmaxSums {
 public:
  explicit OnlineSoftmaxSums(const std::vector<NodeRef>& order);

  /// exp(x - m), m being the maximum of x.
  bool is_power(const Node& node) const { return powers_.contains(&node); }
  /// A sum of such powers times another factor.
  bool is_sum(const Node& node) const { return sums_.contains(&node); }
  /// What the powers of such a sum are multiplied by, where that is several: one that is the same
  /// for all terms may come after the sum.
  const std::vector<const Node*>& factors(const Node& sum) const { return sums_.at(&sum); }
  /// A cast of such a factor to a narrower float.
  bool is_rounding(const Node& node) const { return roundings_.contains(&node); }
  /// A sum of products of which a factor may be zero because a mask says so.
  bool is_masked(const Node& node) const { return masked_.contains(&node); }
  /// A product that is a factor of such terms, and has a zero of a mask itself.
  bool is_masked_factor(const Node& node) const { return masked_factors_.contains(&node); }

 private:
  void find_roundings(const Node* factor);
  void find_masked_factors(const Node* term);
  void find_factors(const Node* node, std::vector<const Node*>& out) const;
  std::unordered_set<const Node*> powers_, roundings_, masked_, masked_factors_;
  std::unordered_map<const Node*, std::vector<const Node*>> sums_;
};

/// Each difference in an exponent was rounded by itself.
void allow_products(const IntervalArray& exponent, IntervalArray& powers);

/// A power may be rounded before it is divided, and no more than a unit in the last place of what
/// is rounded is lost either way.
void allow_early_rounding(const IntervalArray& x, IntervalArray& rounded);

/// A term that is 0 by a mask may be left out, whatever it multiplies. `a`, `b`: the factors.
void allow_left_out(const Node& sum, const IntervalArray& a, const IntervalArray& b,
                    IntervalArray& out);
/// So a product of such a zero is it, or what the numbers say. `x`, `y`: the factors.
void allow_zero(const IntervalArray& x, const IntervalArray& y, IntervalArray& product);

/// That, and the sum is divided, or multiplied by one of the factors, where terms were: it may
/// overflow, or lose what is subnormal, where they do not.
void allow_late_factors(const Node& sum, const IntervalArray& a, const IntervalArray& b,
                        const std::vector<const IntervalArray*>& factors, IntervalArray& out);

}  // namespace tenon::reference
