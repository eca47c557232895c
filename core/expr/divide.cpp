// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floored division and remainder, by numbers and by symbolic sizes.
//
// Both split the dividend into quotient * divisor + rest in the same way, so that (x//b)*b + x%b
// can be recognised and recombined.
#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "core/expr/expr_node.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace expr {
namespace {

struct Split {
  Linear quotient, rest;
};

/// Whether 0 <= rest < divisor is proven.
bool is_remainder(const Linear& rest, const Expr& divisor) {
  if (rest.min() < 0) return false;
  if (rest.max() < divisor.min()) return true;
  Linear gap(divisor);
  gap.add(-1, rest.build());
  return gap.min() >= 1;
}

/// Divides coefficients toward zero, then shifts the rest so that its minimum is in [0, divisor).
/// So no dividend is negative in the end.
Split split_by_number(const Linear& x, int64_t divisor) {
  Split s;
  for (const auto& [c, t] : x.terms) {
    s.quotient.add(c / divisor, t);
    s.rest.add(c % divisor, t);
  }
  s.rest.constant = x.constant;
  const int64_t shift = floor_div(s.rest.min(), divisor);
  s.quotient.constant = add(s.quotient.constant, shift);
  s.rest.constant = add(s.rest.constant, negate(multiply(shift, divisor)));
  return s;
}

/// Polynomial division by the term of the divisor with the most factors.
Split split_by_expr(const Linear& x, const Expr& divisor) {
  constexpr int kMaxSteps = 32;
  const Linear d(divisor);
  const auto& [lead_coefficient, lead] = *std::ranges::max_element(
      d.terms, {}, [](const Term& t) { return factors(t.second).size(); });
  Split s;
  s.rest = x;
  for (int step = 0; step < kMaxSteps; ++step) {
    Expr cofactor;
    const auto at =
        std::ranges::find_if(s.rest.terms, [&, l = lead, c = lead_coefficient](auto& t) {
          return t.first / c != 0 && remove_factors(t.second, factors(l), cofactor);
        });
    if (at == s.rest.terms.end()) return s;
    const int64_t times = at->first / lead_coefficient;
    s.quotient.add(times, cofactor);
    s.rest.add(negate(times), cofactor * divisor);
  }
  return {Linear(), x};
}

Split split(const Linear& x, const Expr& divisor) {
  if (divisor.is_const()) return split_by_number(x, divisor.value());
  Split s = split_by_expr(x, divisor);
  if (s.rest.min() >= 0) return s;
  // A rest in [-divisor, 0) becomes a remainder by decrementing the quotient.
  if (s.rest.max() < 0) {
    Linear raised = s.rest;
    raised.add(1, divisor);
    if (raised.min() >= 0) {
      s.quotient.constant = add(s.quotient.constant, -1);
      return {s.quotient, raised};
    }
  }
  if (x.min() >= 0) return {Linear(), x};
  return s;
}

std::optional<Expr> exact_quotient(const Expr& x, const Expr& divisor) {
  const Split s = split(Linear(x), divisor);
  if (!s.rest.terms.empty() || s.rest.constant != 0) return std::nullopt;
  return s.quotient.build();
}

/// Splits x into factor * quotient + rest with rest in [0, factor), if the quotient is useful.
std::optional<Split> split_off_number(const Linear& x, int64_t factor) {
  Split s;
  for (const auto& [c, t] : x.terms)
    (c % factor == 0 ? s.quotient : s.rest).add(c % factor == 0 ? c / factor : c, t);
  if (s.quotient.terms.empty()) return std::nullopt;
  s.rest.constant = x.constant;
  const int64_t shift = floor_div(s.rest.min(), factor);
  s.quotient.constant = shift;
  s.rest.constant = add(s.rest.constant, negate(multiply(shift, factor)));
  if (s.rest.max() >= factor) return std::nullopt;
  return s;
}

/// Numbers that might divide most of x and the divisor, larger ones first.
std::vector<int64_t> common_numbers(const Linear& x, int64_t divisor) {
  std::set<int64_t, std::greater<>> out;
  int64_t all = divisor;
  for (const auto& [c, t] : x.terms) {
    out.insert(std::gcd(c, divisor));
    all = std::gcd(all, c);
  }
  out.insert(all);
  out.erase(1);
  return {out.begin(), out.end()};
}

struct Factored {
  Expr factor;
  Split split;
  Expr divisor;
};

/// divisor = factor * divisor', x = factor * quotient + rest, 0 <= rest < factor.
std::optional<Factored> factor_out(const Linear& x, const Expr& divisor) {
  const Linear d(divisor);
  const int64_t number = content(divisor);
  for (const int64_t g : common_numbers(x, number)) {
    if (divisor.is_const(g)) continue;
    if (auto s = split_off_number(x, g))
      return Factored{Expr(g), std::move(*s), *exact_quotient(divisor, Expr(g))};
  }
  if (d.terms.size() != 1 || d.constant != 0) return std::nullopt;
  for (const Expr& f : factors(d.terms[0].second)) {
    if (f == divisor) continue;
    Split s = split(x, f);
    if (s.quotient.terms.empty() || !is_remainder(s.rest, f)) continue;
    Expr smaller;
    remove_factors(d.terms[0].second, {f}, smaller);
    return Factored{f, std::move(s), smaller * Expr(d.terms[0].first)};
  }
  return std::nullopt;
}

Expr leaf_div(const Linear& rest, const Expr& divisor) {
  const int64_t low = rest.min(), high = rest.max();
  const int64_t least = std::max<int64_t>(divisor.min(), 1), most = divisor.max();
  return make(ExprKind::kDiv, {rest.build(), divisor}, floor_div(low, low < 0 ? least : most),
              floor_div(high, high < 0 ? most : least));
}

Expr leaf_mod(const Linear& rest, const Expr& divisor) {
  const int64_t limit = divisor.max() - 1;
  return make(ExprKind::kMod, {rest.build(), divisor}, 0,
              rest.min() >= 0 ? std::min(limit, rest.max()) : limit);
}

/// The term, if the rest is 1 * term + constant with a term of this kind and constant >= 0.
const Expr* lone_term(const Linear& rest, ExprKind kind) {
  if (rest.terms.size() != 1 || rest.terms[0].first != 1 || rest.constant < 0) return nullptr;
  return rest.terms[0].second.kind() == kind ? &rest.terms[0].second : nullptr;
}

Expr div_of_rest(const Linear& rest, const Expr& divisor) {
  if (rest.terms.empty() && divisor.is_const())
    return Expr(floor_div(rest.constant, divisor.value()));
  const Step step;
  if (!step) return leaf_div(rest, divisor);
  if (const auto f = factor_out(rest, divisor))
    return tenon::floor_div(f->split.quotient.build(), f->divisor);
  if (const Expr* div = lone_term(rest, ExprKind::kDiv)) {
    const auto& xs = div->operands();  // (x//a + k)//b = (x + k*a)//(a*b)
    return tenon::floor_div(xs[0] + xs[1] * Expr(rest.constant), xs[1] * divisor);
  }
  if (const Expr* m = lone_term(rest, ExprKind::kMod); m && rest.constant == 0) {
    const auto& xs = m->operands();  // (x%(a*b))//b = (x//b)%a
    if (const auto times = exact_quotient(xs[1], divisor))
      return tenon::mod(tenon::floor_div(xs[0], divisor), *times);
  }
  return leaf_div(rest, divisor);
}

Expr mod_of_rest(const Linear& rest, const Expr& divisor) {
  if (rest.terms.empty() && divisor.is_const())
    return Expr(floor_mod(rest.constant, divisor.value()));
  const Step step;
  if (!step) return leaf_mod(rest, divisor);
  if (const auto f = factor_out(rest, divisor))
    return f->factor * tenon::mod(f->split.quotient.build(), f->divisor) + f->split.rest.build();
  if (const Expr* m = lone_term(rest, ExprKind::kMod)) {
    const auto& xs = m->operands();  // (x%(a*b) + k)%b = (x + k)%b
    if (exact_quotient(xs[1], divisor)) return tenon::mod(xs[0] + rest.constant, divisor);
  }
  return leaf_mod(rest, divisor);
}

void check_divisor(const Expr& a, const Expr& b) {
  TN_REQUIRE(b.max() >= 1, "[expr] expected a divisor of at least 1, got {} (dividing {})",
             to_string(b), to_string(a));
}

bool join_one(Linear& sum) {
  for (const auto& [c, t] : sum.terms) {
    if (t.kind() != ExprKind::kMod) continue;
    const Expr x = t.operands()[0], b = t.operands()[1];
    const Expr q = tenon::floor_div(x, b);
    const Linear whole(q * b);
    if (whole.terms.size() != 1 || whole.constant != 0) continue;
    for (const auto& [other, u] : sum.terms) {
      Expr merged;
      int64_t times;
      if (__builtin_mul_overflow(c, whole.terms[0].first, &times) || other != times) continue;
      if (u == whole.terms[0].second) {
        merged = x;
      } else {
        const Linear part(b);  // c*(x%b) + c*b*((x//b)%d) = c*(x%(b*d))
        Expr rest = u;
        if (!part.terms.empty() && !remove_factors(u, factors(part.terms[0].second), rest))
          continue;
        if (rest.kind() != ExprKind::kMod || !(rest.operands()[0] == q)) continue;
        merged = tenon::mod(x, b * rest.operands()[1]);
      }
      const Term first{c, t}, second{other, u};
      sum.add(negate(first.first), first.second);
      sum.add(negate(second.first), second.second);
      sum.add(first.first, merged);
      return true;
    }
  }
  return false;
}

}  // namespace

void recombine(Linear& sum) {
  const Step step;
  while (step && sum.terms.size() > 1 && join_one(sum)) {
  }
}

}  // namespace expr

using expr::Linear;

Expr floor_div(const Expr& a, const Expr& b) {
  expr::check_divisor(a, b);
  if (b.is_const(1)) return a;
  if (a.is_const(0)) return 0;
  if (a == b) return 1;
  const Linear x(a);
  if (expr::is_remainder(x, b)) return 0;
  expr::Split s = expr::split(x, b);
  if (!expr::is_remainder(s.rest, b)) s.quotient.add(1, expr::div_of_rest(s.rest, b));
  return s.quotient.build();
}

Expr mod(const Expr& a, const Expr& b) {
  expr::check_divisor(a, b);
  if (b.is_const(1) || a.is_const(0) || a == b) return 0;
  const Linear x(a);
  if (expr::is_remainder(x, b)) return a;
  const expr::Split s = expr::split(x, b);
  return expr::is_remainder(s.rest, b) ? s.rest.build() : expr::mod_of_rest(s.rest, b);
}

Expr ceil_div(const Expr& a, const Expr& b) { return floor_div(a + b - 1, b); }

}  // namespace tenon
