// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sharper upper bound of a sum, for comparisons: it knows how x//d, x%d, min and max relate to
// what they are made of, so that n//2 <= n is proven, and that the factors of products are the same
// in all of them.
#include <algorithm>
#include <vector>

#include "core/ir/expr_node.hpp"

namespace tenon::expr {
namespace {

/// Within these, scaling a sum by a divisor cannot overflow.
constexpr int64_t kMaxDivisor = int64_t{1} << 20;
constexpr int64_t kMaxTerm = int64_t{1} << 36;
constexpr size_t kMaxTerms = 16;
constexpr int kSteps = 4;
constexpr size_t kMaxFactors = 6;

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

/// Of products: a sum that is linear in each factor is largest at a corner of what they may be.
/// Sees that (m - 3)*(n - 3), multiplied out, is not negative for m, n >= 3.
int64_t corner_max(const Linear& sum) {
  std::vector<Expr> all;
  std::vector<std::vector<size_t>> of_term;
  bool has_product = false;
  for (const auto& [c, t] : sum.terms) {
    std::vector<size_t>& own = of_term.emplace_back();
    for (const Expr& f : factors(t)) {
      const auto at = static_cast<size_t>(std::ranges::find(all, f) - all.begin());
      if (std::ranges::find(own, at) != own.end()) return sum.max();  // a square
      own.push_back(at);
      if (at == all.size()) all.push_back(f);
    }
    has_product |= own.size() > 1;
  }
  if (!has_product || all.size() > kMaxFactors) return sum.max();
  int64_t best = INT64_MIN;
  for (uint32_t corner = 0; corner < 1u << all.size(); ++corner) {
    int64_t total = sum.constant;
    for (size_t i = 0; i < of_term.size(); ++i) {
      int64_t product = sum.terms[i].first;
      for (const size_t f : of_term[i])
        product = multiply(product, corner >> f & 1 ? all[f].max() : all[f].min());
      total = add(total, product);
    }
    best = std::max(best, total);
  }
  return best;
}

int64_t sharp_max(const Linear& sum, int steps) {
  int64_t best = sum.max();
  if (sum.terms.size() < 2 || !is_small(sum)) return best;
  best = std::min(best, corner_max(sum));
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
