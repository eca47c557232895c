// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intervals of views, reductions, gathers and scatters.
#include "core/interval/nodes.hpp"

#include <algorithm>
#include <cmath>

#include "core/support/error.hpp"

namespace tenon::reference {
namespace {

void set(IntervalArray& out, int64_t i, const Interval& range, bool doubt) {
  out.range[i] = range;
  out.doubt[i] = doubt;
}

bool doubt_at(const IntervalArray& x, int64_t i) { return !x.exact() && x.doubt[i]; }

/// Folds MAX or MIN, or any reduction of integers, over one group of terms.
Interval fold(Op op, DType dtype, const std::vector<Interval>& terms, const Profile& profile) {
  Interval acc = terms[0];
  if (acc.nan && (profile.numerics & kNoNan)) return anything();
  // The accumulator starts with the identity, so even a single term is one step.
  if (is_float(dtype) && (profile.numerics & (kFlushInput | kFlushOutput))) acc = flush(acc, dtype);
  for (size_t i = 1; i < terms.size(); ++i) {
    const Interval operands[] = {acc, terms[i], {}};
    acc = apply(op, dtype, operands, profile);
  }
  return acc;
}

Interval combine(const ReduceAttr& attr, DType type, const std::vector<Interval>& terms, bool fused,
                 const Profile& profile) {
  if (attr.op == Op::ADD) return sum(terms, type, fused, profile);
  if (attr.op == Op::MUL) return product(terms, type, profile);
  return fold(attr.op, type, terms, profile);
}

}  // namespace

void open(IntervalArray& array) {
  const int64_t count = array.value.count();
  array.range.resize(static_cast<size_t>(count));
  array.doubt.assign(static_cast<size_t>(count), 0);
  for (int64_t i = 0; i < count; ++i) array.range[i] = point(array.value.at(i).as_double());
}

void settle(IntervalArray& array) {
  const bool floats = is_float(array.value.dtype);
  for (size_t i = 0; i < array.range.size(); ++i) {
    if (array.range[i].any || array.doubt[i]) return;
    if (!floats) continue;
    const double value = array.value.at(static_cast<int64_t>(i)).as_double();
    const Interval& x = array.range[i];
    if (std::isnan(value) ? !is_empty(x)
                          : x.nan || x.low != value || x.high != value ||
                                std::signbit(x.low) != std::signbit(value) ||
                                std::signbit(x.high) != std::signbit(value))
      return;
  }
  array.range.clear();
  array.doubt.clear();
}

void view_intervals(const Node& node, const IntervalArray& x, const SymbolValues& symbols,
                    IntervalArray& out) {
  out.rounded = x.rounded;
  if (x.exact()) return;
  open(out);
  walk_view(node, out.value.shape, x.value.shape, symbols, [&](int64_t i, int64_t source) {
    if (source >= 0) set(out, i, x.range[source], x.doubt[source]);
  });
}

void reduce_intervals(const Node& node, const IntervalArray& x, const Profile& profile,
                      IntervalArray& out) {
  const auto& attr = node.as<ReduceAttr>();
  const DType type = attr.accumulator == DType::kVoid ? node.dtype : attr.accumulator;
  const bool pinned = !is_float(type) || attr.op == Op::MAX || attr.op == Op::MIN;
  if (x.exact() && pinned && (!is_float(type) || profile.numerics == 0)) return;
  open(out);
  // A product that is added in a wider float may be added as it is (rewrite/rules/products.cpp).
  const bool keeps = x.rounded && attr.op == Op::ADD && adds_exact_products(x.value.dtype, type);
  const bool fused = x.rounded && (type == x.value.dtype || keeps);
  std::vector<Interval> terms;
  bool doubt = false;
  const auto close = [&](int64_t i) {
    if (terms.empty()) return;
    if (!is_float(type)) {
      if (doubt) set(out, i, anything(), true);
    } else {
      Interval total = combine(attr, type, terms, fused, profile);
      if (type != node.dtype && is_float(node.dtype) && !total.any) {
        if ((has_infinity(total) && (profile.numerics & kNoInf)) ||
            (total.nan && (profile.numerics & kNoNan)))
          total = anything();
        total = nearest(total, node.dtype);
        if (profile.numerics & kFlushOutput) total = flush(total, node.dtype);
      } else if (!is_float(node.dtype) && !is_point(total)) {
        total = anything();
      }
      set(out, i, is_float(node.dtype) ? hull(total, out.range[i]) : total, total.any);
    }
    terms.clear();
    doubt = false;
  };
  int64_t group = -1;
  walk_reduce(attr, x.value.shape, [&](int64_t i, int64_t source) {
    if (i != group && group >= 0) close(group);
    group = i;
    Interval term = x.at(source);
    if (is_float(type) && type != x.value.dtype) {  // cast to the accumulator's dtype
      if (profile.numerics & kFlushInput) term = flush(term, x.value.dtype);
      if (keeps && !is_empty(term)) {
        term.low -= ulp(term.low, x.value.dtype) / 2;
        term.high += ulp(term.high, x.value.dtype) / 2;
      }
      term = nearest(term, type);
    }
    terms.push_back(term);
    doubt |= doubt_at(x, source);
  });
  if (group >= 0) close(group);
  if (!(profile.numerics & kNoInf) || !is_float(node.dtype)) return;
  for (int64_t i = 0; i < out.value.count(); ++i)  // including identities of empty reductions
    if (has_infinity(out.range[i])) set(out, i, anything(), true);
}

IntervalArray cut_factors(const IntervalArray& x, int bits) {
  IntervalArray out{x.value, {}, {}, false};
  open(out);
  const auto neighbour = [&](double y, double (*round)(double)) {
    if (y == 0 || !std::isfinite(y)) return y;
    const double unit = std::ldexp(1, std::max(std::ilogb(y), -126) - bits + 1);
    const double cut = round(y / unit) * unit;
    return std::abs(cut) > std::numeric_limits<float>::max() ? std::copysign(kInfinity, y) : cut;
  };
  for (int64_t i = 0; i < x.value.count(); ++i) {
    Interval range = x.at(i);
    if (!is_empty(range) && !range.any) {
      range.low = neighbour(range.low, std::floor);
      range.high = neighbour(range.high, std::ceil);
    }
    set(out, i, range, doubt_at(x, i));
  }
  return out;
}

void take_intervals(const Node& node, const IntervalArray& x, const IntervalArray& index,
                    IntervalArray& out) {
  if (x.exact() && index.exact()) return;
  open(out);
  const AxisWalk walk(x.value.shape, index.value.shape, node.as<TakeAttr>().axis);
  for (int64_t i = 0; i < out.value.count(); ++i) {
    const int64_t from = walk.at(i, position_at(index.value, i));
    if (doubt_at(index, i))
      set(out, i, anything(), true);
    else if (from >= 0 && !x.exact())
      set(out, i, x.range[from], x.doubt[from]);
  }
}

void store_intervals(const Node& node, const IntervalOperands& operands, const Profile& profile,
                     IntervalArray& out) {
  const auto& [x, index, values] = std::tie(*operands[0], *operands[1], *operands[2]);
  const auto& attr = node.as<StoreAttr>();
  const DType type = node.dtype;
  const bool adds = attr.mode == StoreMode::kAdd;
  if (x.exact() && index.exact() && values.exact() && !(adds && is_float(type))) return;
  open(out);
  for (int64_t i = 0; i < out.value.count(); ++i) set(out, i, x.at(i), doubt_at(x, i));
  const AxisWalk walk(x.value.shape, index.value.shape, attr.axis);
  std::vector<std::vector<Interval>> added(adds && is_float(type) ? out.range.size() : 0);
  for (int64_t i = 0; i < index.value.count(); ++i) {
    if (doubt_at(index, i)) {  // any element may be the target
      for (int64_t k = 0; k < out.value.count(); ++k) set(out, k, anything(), true);
      return;
    }
    const int64_t to = walk.at(i, position_at(index.value, i));
    if (to < 0) continue;
    if (!adds)
      set(out, to, values.at(i), doubt_at(values, i));
    else if (is_float(type))
      added[to].push_back(values.at(i));
    else if (doubt_at(values, i) || out.doubt[to])
      set(out, to, anything(), true);
  }
  for (size_t i = 0; i < added.size(); ++i) {
    if (added[i].empty()) continue;
    added[i].push_back(x.at(static_cast<int64_t>(i)));
    set(out, static_cast<int64_t>(i),
        hull(sum(added[i], type, false, profile),
             point(out.value.at(static_cast<int64_t>(i)).as_double())),
        false);
  }
}

}  // namespace tenon::reference
