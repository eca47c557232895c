// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Minimum, maximum, comparisons and their conjunctions.
#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "core/expr/expr_node.hpp"

namespace tenon {
namespace expr {
namespace {

/// Most comparisons of an and/or that are searched for implications.
constexpr size_t kMaxImplied = 16;

Linear difference(const Expr& a, const Expr& b) {
  Linear d(a);
  d.add(-1, b);
  return d;
}

void flatten(ExprKind kind, const Expr& e, std::vector<Expr>& out) {
  if (e.kind() == kind) {
    for (const Expr& f : e.operands()) flatten(kind, f, out);
  } else {
    out.push_back(e);
  }
}

void sort_unique(std::vector<Expr>& xs) {
  std::ranges::sort(xs, [](const Expr& a, const Expr& b) { return compare(a, b) < 0; });
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
}

/// kMin if `sign` is 1, kMax if -1.
Expr extreme(ExprKind kind, const Expr& a, const Expr& b, int64_t sign) {
  std::vector<Expr> all, remaining;
  flatten(kind, a, all);
  flatten(kind, b, all);
  for (const Expr& e : all) {
    const auto loses = [&](const Expr& winner, const Expr& loser) {
      const Linear d = difference(loser, winner);
      return sign > 0 ? d.sharp_min() >= 0 : d.sharp_max() <= 0;
    };
    if (std::ranges::any_of(remaining, [&](const Expr& k) { return loses(k, e); })) continue;
    std::erase_if(remaining, [&](const Expr& k) { return loses(e, k); });
    remaining.push_back(e);
  }
  if (remaining.size() == 1) return remaining[0];
  sort_unique(remaining);
  int64_t low = remaining[0].min(), high = remaining[0].max();
  for (const Expr& e : remaining) {
    low = sign > 0 ? std::min(low, e.min()) : std::max(low, e.min());
    high = sign > 0 ? std::min(high, e.max()) : std::max(high, e.max());
  }
  return make(kind, std::move(remaining), low, high);
}

/// sum < 0 (or == 0) with the sum's terms on the sides where they are positive.
Expr balanced(ExprKind kind, const Linear& sum) {
  Linear left, right;
  for (const auto& [c, t] : sum.terms) (c > 0 ? left : right).add(c > 0 ? c : negate(c), t);
  (sum.constant > 0 ? left : right).constant =
      sum.constant > 0 ? sum.constant : negate(sum.constant);
  return make(kind, {left.build(), right.build()}, 0, 1);
}

std::optional<Expr> decided_less(const Linear& d) {
  if (d.sharp_max() < 0) return Expr(1);
  if (d.sharp_min() >= 0) return Expr(0);
  return std::nullopt;
}

/// d < 0 where d = g*high + rest and 0 <= rest < g is high < 0.
Linear drop_small_terms(Linear d) {
  std::set<int64_t, std::greater<>> numbers;
  int64_t all = 0;
  for (const auto& [c, t] : d.terms) {
    numbers.insert(c < 0 ? negate(c) : c);
    all = std::gcd(all, c);
  }
  numbers.insert(all);
  for (const int64_t g : numbers) {
    if (g <= 1) continue;
    Linear high, rest;
    for (const auto& [c, t] : d.terms) (c % g ? rest : high).add(c % g ? c : c / g, t);
    if (high.terms.empty()) continue;
    rest.constant = d.constant;
    const int64_t shift = floor_div(rest.min(), g);
    rest.constant = add(rest.constant, negate(multiply(shift, g)));
    if (rest.max() >= g) continue;
    high.constant = shift;
    return drop_small_terms(high);
  }
  return d;
}

Expr truth(const Expr& e) {
  if (e.min() >= 0 && e.max() <= 1) return e;
  return 1 - equal(e, 0);
}

/// For two comparisons of kind kLess on the same terms: 1 if a implies b, -1 if b implies a.
int implication(const Expr& a, const Expr& b) {
  if (a.kind() != ExprKind::kLess || b.kind() != ExprKind::kLess) return 0;
  Linear gap = difference(a.operands()[1], a.operands()[0]);
  gap.add(-1, b.operands()[1]);
  gap.add(1, b.operands()[0]);
  if (gap.max() <= 0) return 1;  // a has less room
  return gap.min() >= 0 ? -1 : 0;
}

/// kAnd keeps the stronger of two operands (sign 1), kOr the weaker (sign -1).
Expr junction(ExprKind kind, const Expr& a, const Expr& b, int sign) {
  const int64_t absorbing = sign > 0 ? 0 : 1;
  Expr x = truth(a), y = truth(b);
  if (x.is_const(absorbing) || y.is_const(absorbing)) return absorbing;
  if (x.is_const()) return y;
  if (y.is_const()) return x;
  std::vector<Expr> all;
  flatten(kind, x, all);
  flatten(kind, y, all);
  sort_unique(all);
  for (const Expr& e : all)
    if (std::ranges::find(all, 1 - e) != all.end()) return absorbing;
  if (all.size() <= kMaxImplied) {
    std::vector<Expr> remaining;
    for (const Expr& e : all) {
      if (std::ranges::any_of(remaining, [&](auto& k) { return implication(k, e) * sign > 0; }))
        continue;
      std::erase_if(remaining, [&](auto& k) { return implication(e, k) * sign > 0; });
      remaining.push_back(e);
    }
    all = std::move(remaining);
  }
  if (all.size() == 1) return all[0];
  return make(kind, std::move(all), 0, 1);
}

}  // namespace
}  // namespace expr

using expr::Linear;

Expr min(const Expr& a, const Expr& b) { return expr::extreme(ExprKind::kMin, a, b, 1); }
Expr max(const Expr& a, const Expr& b) { return expr::extreme(ExprKind::kMax, a, b, -1); }

Expr less(const Expr& a, const Expr& b) {
  Linear d(expr::difference(a, b).build());
  if (const auto known = expr::decided_less(d)) return *known;
  d = expr::drop_small_terms(std::move(d));
  if (const auto known = expr::decided_less(d)) return *known;
  return expr::balanced(ExprKind::kLess, d);
}

Expr equal(const Expr& a, const Expr& b) {
  Linear d(expr::difference(a, b).build());
  if (d.terms.empty()) return d.constant == 0;
  if (d.min() > 0 || d.max() < 0) return 0;
  int64_t g = 0;
  for (const auto& [c, t] : d.terms) g = std::gcd(g, c);
  if (d.constant % g != 0) return 0;
  if (d.terms[0].first < 0) g = -g;
  for (auto& [c, t] : d.terms) c /= g;
  d.constant /= g;
  return expr::balanced(ExprKind::kEqual, d);
}

Expr logical_and(const Expr& a, const Expr& b) { return expr::junction(ExprKind::kAnd, a, b, 1); }

Expr logical_or(const Expr& a, const Expr& b) { return expr::junction(ExprKind::kOr, a, b, -1); }

}  // namespace tenon
