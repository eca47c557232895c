// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sharper upper bound of a sum, for comparisons. It relates x//d, x%d, min and max to their
// operands, which proves n//2 <= n, and equal factors of different products to each other.
#include <algorithm>
#include <vector>

#include "core/expr/expr_node.hpp"

namespace tenon::expr {
namespace {

/// Scaling a sum by a divisor up to this cannot overflow.
constexpr int64_t kMaxDivisor = int64_t{1} << 20;
constexpr int64_t kMaxTerm = int64_t{1} << 36;
constexpr size_t kMaxTerms = 16;
constexpr int kSteps = 4;
constexpr size_t kMaxFactors = 4;

bool is_small(const Linear& sum) {
  if (sum.terms.size() > kMaxTerms || std::abs(sum.constant / 2) > kMaxTerm) return false;
  return std::ranges::all_of(sum.terms, [](const Term& t) {
    const int64_t size = std::max(std::abs(t.second.min() / 2), std::abs(t.second.max() / 2));
    return std::abs(t.first / 2) <= kMaxTerm && size <= kMaxTerm &&
           std::abs(t.first) <= kMaxTerm / std::max<int64_t>(size, 1);
  });
}

/// divisor * sum <= larger.
struct Relaxed {
  Linear larger;
  int64_t divisor = 1;
};

/// The sum without its term number `at`, times `scale`.
Linear without(const Linear& sum, size_t at, int64_t scale) {
  Linear rest = sum;
  rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(at));
  rest.scale(scale);
  return rest;
}

std::vector<Relaxed> relaxations(const Linear& sum, size_t at) {
  const auto& [c, t] = sum.terms[at];
  std::vector<Relaxed> out;
  const auto replace = [&, c = c](const Expr& by) {
    out.push_back({without(sum, at, 1), 1});
    out.back().larger.add(c, by);
  };
  if (t.kind() == ExprKind::kDiv && t.operands()[1].is_const()) {
    const int64_t d = t.operands()[1].value();
    if (d > kMaxDivisor) return out;
    // y - (d-1) <= d*(y//d) <= y
    out.push_back({without(sum, at, d), d});
    out.back().larger.add(c, c > 0 ? t.operands()[0] : t.operands()[0] - (d - 1));
  } else if (t.kind() == ExprKind::kDiv && c > 0 && t.operands()[0].min() >= 0) {
    replace(t.operands()[0]);
  } else if (t.kind() == ExprKind::kMod && c > 0) {
    if (t.operands()[0].min() >= 0) replace(t.operands()[0]);
    replace(t.operands()[1] - 1);
  } else if ((t.kind() == ExprKind::kMin && c > 0) || (t.kind() == ExprKind::kMax && c < 0)) {
    for (const Expr& e : t.operands()) replace(e);
  }
  return out;
}

/// A factor of the terms of a sum, with its greatest power.
struct Factor {
  Expr value;
  int degree = 0;
};

/// A coefficient of x^power in the Bernstein basis over the bounds of x. Doubled for degree two, so
/// that it is an integer.
int64_t bernstein(const Factor& x, int power, int number) {
  const int64_t low = x.value.min(), high = x.value.max();
  if (x.degree == 1) return power == 0 ? 1 : number ? high : low;
  const int64_t first = number == 2 ? high : low, second = number ? high : low;
  if (power == 0) return 2;
  return power == 1 ? add(first, second) : multiply(2, multiply(first, second));
}

int power_of(const Expr& factor, const Expr& term) {
  return static_cast<int>(std::ranges::count(factors(term), factor));
}

/// Upper bound of a sum with products: its largest Bernstein coefficient. Proves that (m - 3)*(n -
/// 3) and (n - 3)*(n - 3), multiplied out, are not negative for m, n >= 3.
int64_t product_max(const Linear& sum) {
  std::vector<Factor> all;
  bool has_product = false;
  for (const auto& [c, t] : sum.terms) {
    const std::vector<Expr> own = factors(t);
    has_product |= own.size() > 1;
    for (const Expr& f : own) {
      auto found = std::ranges::find(all, f, &Factor::value);
      if (found == all.end()) found = all.insert(all.end(), {f, 0});
      found->degree = std::max(found->degree, power_of(f, t));
      if (found->degree > 2) return sum.max();
    }
  }
  if (!has_product || all.size() > kMaxFactors) return sum.max();
  int64_t scale = 1, best = INT64_MIN;
  for (const Factor& x : all) scale *= x.degree;
  std::vector<int> number(all.size());
  for (;;) {
    int64_t total = multiply(scale, sum.constant);
    for (const auto& [c, t] : sum.terms) {
      int64_t product = c;
      for (size_t i = 0; i < all.size(); ++i)
        product = multiply(product, bernstein(all[i], power_of(all[i].value, t), number[i]));
      total = add(total, product);
    }
    best = std::max(best, total);
    size_t i = 0;
    while (i < all.size() && ++number[i] > all[i].degree) number[i++] = 0;
    if (i == all.size()) return floor_div(best, scale);
  }
}

int64_t sharp_max(const Linear& sum, int steps) {
  int64_t best = sum.max();
  const Step step;
  if (!step || sum.terms.size() < 2 || !is_small(sum)) return best;
  best = std::min(best, product_max(sum));
  if (steps == 0) return best;
  for (size_t i = 0; i < sum.terms.size(); ++i)
    for (const Relaxed& r : relaxations(sum, i))
      best = std::min(best, floor_div(sharp_max(r.larger, steps - 1), r.divisor));
  return best;
}

}  // namespace

int64_t Linear::sharp_max() const { return expr::sharp_max(*this, kSteps); }

int64_t Linear::sharp_min() const {
  Linear negated = *this;
  negated.scale(-1);
  return negate(negated.sharp_max());
}

}  // namespace tenon::expr
