// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/interval/online_softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ir/softmax_power.hpp"

namespace tenon::reference {
namespace {

bool narrows(const Node& node) {
  return node.op == Op::CAST && !node.as<CastAttr>().bits && is_float(node.dtype) &&
         is_float(node.sources[0]->dtype) &&
         dtype_bits(node.dtype) < dtype_bits(node.sources[0]->dtype);
}

const Node* strip_views(const Node* node) {
  while (node->op == Op::VIEW) node = node->sources[0].get();
  return node;
}

const Node* strip_views_and_casts(const Node* node) {
  while (node->op == Op::VIEW || (node->op == Op::CAST && !node->as<CastAttr>().bits))
    node = node->sources[0].get();
  return node;
}

bool is_zero(const NodeRef& x) {
  const Node* source = strip_views(x.get());
  return source->op == Op::CONST && source->as<ConstAttr>().value.as_double() == 0;
}

}  // namespace

bool OnlineSoftmaxSums::finds_power(const Node& node) const {
  const auto has = [&](size_t i) { return with_power_.contains(node.sources[i].get()); };
  if (powers_.contains(&node)) return true;
  if (node.op == Op::WHERE) return has(1) || has(2);
  if (node.op == Op::VIEW || node.op == Op::FDIV || node.op == Op::CAST) return has(0);
  return node.op == Op::MUL && (has(0) || has(1));
}

bool OnlineSoftmaxSums::finds_masked_zero(const Node& node) const {
  const auto may = [&](size_t i) { return may_be_zero_.contains(node.sources[i].get()); };
  if (node.op == Op::WHERE) return is_zero(node.sources[1]) || is_zero(node.sources[2]);
  if (node.op == Op::VIEW || (node.op == Op::CAST && !node.as<CastAttr>().bits)) return may(0);
  return node.op == Op::MUL && (may(0) || may(1));
}

OnlineSoftmaxSums::OnlineSoftmaxSums(const std::vector<NodeRef>& order) {
  for (const NodeRef& node : order) {  // operands first
    if (softmax_power(*node)) powers_.insert(node.get());
    if (finds_power(*node)) with_power_.insert(node.get());
    if (finds_masked_zero(*node)) may_be_zero_.insert(node.get());
    if (node->op != Op::REDUCE || node->as<ReduceAttr>().op != Op::ADD ||
        node->sources[0]->op != Op::MUL || !is_float(node->dtype))
      continue;
    if (may_be_zero_.contains(node->sources[0].get())) {
      masked_.insert(node.get());
      find_masked_factors(node->sources[0].get());
    }
    if (!with_power_.contains(node->sources[0].get())) continue;
    std::vector<const Node*>& factors = sums_[node.get()];
    std::unordered_set<const Node*> seen;
    find_factors(node->sources[0].get(), factors, seen);
    if (factors.size() == 1) factors.clear();  // the product's other factor
    for (const NodeRef& factor : node->sources[0]->sources) find_roundings(factor.get());
  }
}

void OnlineSoftmaxSums::find_factors(const Node* node, std::vector<const Node*>& out,
                                     std::unordered_set<const Node*>& seen) const {
  node = strip_views(node);
  if (powers_.contains(node) || !seen.insert(node).second) return;
  for (const NodeRef& source : node->sources) {
    if (with_power_.contains(source.get()))
      find_factors(source.get(), out, seen);
    else if (node->op == Op::MUL)
      out.push_back(source.get());
  }
}

void OnlineSoftmaxSums::find_roundings(const Node* factor) {
  if (!with_power_.contains(factor) || !looked_for_roundings_.insert(factor).second) return;
  if (narrows(*factor)) roundings_.insert(factor);
  if (powers_.contains(factor)) return;
  for (const NodeRef& source : factor->sources) find_roundings(source.get());
}

void OnlineSoftmaxSums::find_masked_factors(const Node* term) {
  for (const NodeRef& source : term->sources) {
    const Node* factor = strip_views_and_casts(source.get());
    if (factor->op == Op::MUL && may_be_zero_.contains(factor) &&
        masked_factors_.insert(factor).second)
      find_masked_factors(factor);
  }
}

void allow_products(const IntervalArray& exponent, IntervalArray& powers) {
  const double unit = float_facts(powers.value.dtype).unit_roundoff();
  if (powers.exact()) open(powers);
  for (int64_t i = 0; i < powers.value.count(); ++i) {
    Interval& range = powers.range[static_cast<size_t>(i)];
    const double distance = magnitude(exponent.at(i));
    // The power of the maximum itself is exactly 1.
    if (range.any || is_empty(range) || distance == 0 || !std::isfinite(distance)) continue;
    const double off = (2 * distance + 2) * unit;
    range.low = std::max(0.0, range.low * (1 - off));
    range.high *= 1 + off;
    range = hull(range, nearest(range, powers.value.dtype));
  }
}

void allow_early_rounding(const IntervalArray& x, IntervalArray& rounded) {
  const DType dtype = rounded.value.dtype;
  if (rounded.exact()) open(rounded);
  for (int64_t i = 0; i < rounded.value.count(); ++i) {
    Interval& range = rounded.range[static_cast<size_t>(i)];
    const Interval before = x.at(i);
    if (range.any || is_empty(range) || is_empty(before) || before.any) continue;
    range.low = std::min(range.low, before.low - ulp(before.low, dtype));
    range.high = std::max(range.high, before.high + ulp(before.high, dtype));
  }
}

namespace {

void allow_any(IntervalArray& out, size_t i, bool left_out) {
  const Interval before = out.range[i];
  // A certain NaN stays NaN.
  if (is_empty(before) && before.nan && !left_out) return;
  out.range[i] = anything();
  out.doubt[i] = 1;
}

/// The largest magnitude; infinity if an element may be NaN.
double largest(const IntervalArray& x) {
  double out = 0;
  for (int64_t i = 0; i < x.value.count(); ++i) {
    const Interval range = x.at(i);
    const double here = magnitude(range);
    if (range.any || range.nan || !(here < std::numeric_limits<double>::infinity()))
      return std::numeric_limits<double>::infinity();
    out = std::max(out, here);
  }
  return out;
}

bool may_be_dropped(const Interval& x, const Interval& y) {
  const auto drops = [](const Interval& zero, const Interval& other) {
    return contains(zero, 0) && (other.nan || is_empty(other) || has_infinity(other));
  };
  return drops(x, y) || drops(y, x);
}

}  // namespace

void allow_left_out(const Node& sum, const IntervalArray& a, const IntervalArray& b,
                    IntervalArray& out) {
  if (out.exact()) open(out);
  walk_reduce(sum.as<ReduceAttr>(), a.value.shape, [&](int64_t i, int64_t source) {
    if (may_be_dropped(a.at(source), b.at(source))) allow_any(out, static_cast<size_t>(i), true);
  });
}

void allow_zero(const IntervalArray& x, const IntervalArray& y, IntervalArray& product) {
  for (int64_t i = 0; i < product.value.count(); ++i) {
    if (!may_be_dropped(x.at(i), y.at(i))) continue;
    if (product.exact()) open(product);
    Interval& range = product.range[static_cast<size_t>(i)];
    range = hull(range, point(0));
  }
}

void allow_late_factors(const Node& sum, const IntervalArray& a, const IntervalArray& b,
                        const std::vector<const IntervalArray*>& factors, IntervalArray& out) {
  allow_left_out(sum, a, b, out);
  const FloatFacts facts = float_facts(out.value.dtype);
  // Powers are at most 1.
  double reach = 1;
  for (const IntervalArray* factor : factors) reach *= std::max(1.0, largest(*factor));
  std::vector<double> totals(static_cast<size_t>(out.value.count())), counts(totals.size());
  walk_reduce(sum.as<ReduceAttr>(), a.value.shape, [&](int64_t i, int64_t source) {
    const auto at = static_cast<size_t>(i);
    totals[at] += magnitude(a.at(source)) * magnitude(b.at(source));
    ++counts[at];
  });
  for (size_t i = 0; i < totals.size(); ++i) {
    const double most = factors.empty() ? totals[i] : std::max(totals[i], reach);
    if (!(most * counts[i] < facts.max)) allow_any(out, i, false);
    Interval& range = out.range[i];
    if (factors.empty() || range.any || is_empty(range)) continue;
    const double lost = counts[i] * reach * facts.min_normal() * facts.unit_roundoff();
    range.low -= lost;
    range.high += lost;
  }
}

}  // namespace tenon::reference
