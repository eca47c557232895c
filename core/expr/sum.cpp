// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums and products: the linear form, its bounds, and recombination of a quotient with its
// remainder.
#include <algorithm>
#include <numeric>

#include "core/expr/expr_node.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace expr {
namespace {

/// Products of sums are multiplied out up to so many terms.
constexpr size_t kMaxDistributed = 64;

[[noreturn]] void overflow(const char* what) {
  fail(ErrorKind::kInvalid, "[expr] expected values within 64 bits, got an overflow in {}", what);
}

bool before(const Term& t, const Expr& e) { return compare(t.second, e) < 0; }

Expr make_product(std::vector<Expr> operands) {
  if (operands.size() == 1) return operands[0];
  std::ranges::sort(operands, [](const Expr& a, const Expr& b) { return compare(a, b) < 0; });
  int64_t low = 1, high = 1;
  for (const Expr& e : operands) {
    const int64_t corners[] = {multiply(low, e.min()), multiply(low, e.max()),
                               multiply(high, e.min()), multiply(high, e.max())};
    low = *std::ranges::min_element(corners);
    high = *std::ranges::max_element(corners);
  }
  return make(ExprKind::kProduct, std::move(operands), low, high);
}

Expr multiply_terms(const Expr& a, const Expr& b) {
  std::vector<Expr> all = factors(a);
  for (const Expr& e : factors(b)) all.push_back(e);
  return make_product(std::move(all));
}

int64_t interval_max(const Linear& sum) {
  int64_t total = sum.constant;
  for (const auto& [c, e] : sum.terms) total = add(total, multiply(c, c > 0 ? e.max() : e.min()));
  return total;
}

/// Index symbols with a symbolic extent that a term is linear in.
void indices_of(const Expr& term, std::vector<Expr>& out) {
  if (!term.node()->has_extent) return;
  for (const Expr& f : factors(term))
    if (f.kind() == ExprKind::kSymbol && f.node()->has_extent) out.push_back(f);
}

/// Substitutes index := extent - 1, if that cannot make the sum smaller.
bool raise_to_extent(const Linear& sum, const Expr& index, Linear& out) {
  const Expr& extent = index.node()->operands[0];
  uint64_t others = 0;
  for (const auto& [c, e] : sum.terms)
    if (!(e == index)) others |= e.node()->mask;
  if (!(others & extent.node()->mask)) return false;
  const Expr last = extent - 1;
  out = {};
  out.constant = sum.constant;
  for (const auto& [c, e] : sum.terms) {
    if (!e.depends_on(index.name())) {
      out.add(c, e);
      continue;
    }
    Expr rest;
    if (c < 0 || !remove_factors(e, {index}, rest)) return false;
    if (rest.min() < 0 || rest.depends_on(index.name())) return false;
    out.add(c, rest * last);
  }
  return true;
}

}  // namespace

int64_t add(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result)) overflow("a sum");
  return result;
}

int64_t multiply(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) overflow("a product");
  return result;
}

int64_t negate(int64_t a) {
  if (a == INT64_MIN) overflow("a negation");
  return -a;
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

int64_t floor_mod(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r < 0 ? r + b : r;
}

std::vector<Expr> factors(const Expr& e) {
  return e.kind() == ExprKind::kProduct ? e.operands() : std::vector<Expr>{e};
}

bool remove_factors(const Expr& e, const std::vector<Expr>& removed, Expr& rest) {
  std::vector<Expr> left = factors(e);
  for (const Expr& f : removed) {
    const auto at = std::ranges::find(left, f);
    if (at == left.end()) return false;
    left.erase(at);
  }
  rest = left.empty() ? Expr(1) : make_product(std::move(left));
  return true;
}

int64_t content(const Expr& e) {
  switch (e.kind()) {
    case ExprKind::kConst:
      return std::gcd(e.value(), int64_t{0});
    case ExprKind::kSum: {
      int64_t g = std::gcd(e.node()->value, int64_t{0});
      for (const auto& [c, t] : e.node()->terms) {
        int64_t scaled;
        if (__builtin_mul_overflow(c, content(t), &scaled)) scaled = c;
        g = std::gcd(g, scaled);
      }
      return g;
    }
    case ExprKind::kProduct: {
      int64_t g = 1;
      for (const Expr& f : e.operands())
        if (__builtin_mul_overflow(g, content(f), &g)) return 1;
      return g;
    }
    case ExprKind::kMod:
    case ExprKind::kMin:
    case ExprKind::kMax: {
      int64_t g = 0;
      for (const Expr& f : e.operands()) g = std::gcd(g, content(f));
      return g;
    }
    case ExprKind::kSymbol:
    case ExprKind::kDiv:
    case ExprKind::kLess:
    case ExprKind::kEqual:
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return 1;
  }
  return 1;
}

Linear::Linear(const Expr& e) {
  if (e.kind() == ExprKind::kConst || e.kind() == ExprKind::kSum) {
    constant = e.node()->value;
    terms = e.node()->terms;
  } else {
    terms = {{1, e}};
  }
}

void Linear::add(int64_t coefficient, const Expr& e) {
  if (coefficient == 0) return;
  if (e.kind() == ExprKind::kConst || e.kind() == ExprKind::kSum) {
    constant = expr::add(constant, multiply(coefficient, e.node()->value));
    for (const auto& [c, t] : e.node()->terms) add(multiply(coefficient, c), t);
    return;
  }
  const auto at = std::lower_bound(terms.begin(), terms.end(), e, before);
  if (at == terms.end() || !(at->second == e)) {
    terms.insert(at, {coefficient, e});
    return;
  }
  at->first = expr::add(at->first, coefficient);
  if (at->first == 0) terms.erase(at);
}

void Linear::scale(int64_t factor) {
  if (factor == 0) terms.clear();
  constant = multiply(constant, factor);
  for (auto& [c, t] : terms) c = multiply(c, factor);
}

uint64_t Linear::mask() const {
  uint64_t mask = 0;
  for (const auto& [c, t] : terms) mask |= t.node()->mask;
  return mask;
}

int64_t Linear::max() const {
  const int64_t best = interval_max(*this);
  if (terms.size() < 2) return best;
  std::vector<Expr> indices;
  for (const auto& [c, t] : terms)
    if (c > 0) indices_of(t, indices);
  Linear raised;
  for (const Expr& index : indices)
    if (raise_to_extent(*this, index, raised)) return std::min(best, raised.max());
  return best;
}

int64_t Linear::min() const {
  Linear negated = *this;
  negated.scale(-1);
  return negate(negated.max());
}

Expr Linear::build() const {
  Linear sum = *this;
  if (sum.terms.size() > 1) recombine(sum);
  if (sum.terms.empty()) return Expr(sum.constant);
  if (sum.terms.size() == 1 && sum.constant == 0 && sum.terms[0].first == 1)
    return sum.terms[0].second;
  Expr::Node node;
  node.kind = ExprKind::kSum;
  node.min = sum.min();
  // Proves that sizes like n - n//2 are not negative.
  if (node.min < 0) node.min = sum.sharp_min();
  node.max = sum.max();
  if (node.min == node.max) return Expr(node.min);
  node.value = sum.constant;
  node.terms = std::move(sum.terms);
  return finish(std::move(node));
}

}  // namespace expr

using expr::Linear;

Expr operator+(const Expr& a, const Expr& b) {
  if (a.is_const(0)) return b;
  if (b.is_const(0)) return a;
  Linear sum(a);
  sum.add(1, b);
  return sum.build();
}

Expr operator-(const Expr& a, const Expr& b) {
  if (b.is_const(0)) return a;
  Linear sum(a);
  sum.add(-1, b);
  return sum.build();
}

Expr operator-(const Expr& a) { return Expr(0) - a; }

Expr operator*(const Expr& a, const Expr& b) {
  if (a.is_const()) {
    if (a.is_const(1)) return b;
    Linear sum(b);
    sum.scale(a.value());
    return sum.build();
  }
  if (b.is_const()) return b * a;
  const Linear x(a), y(b);
  Linear sum;
  if ((x.terms.size() + 1) * (y.terms.size() + 1) > expr::kMaxDistributed) {
    sum.add(1, expr::multiply_terms(a, b));
    return sum.build();
  }
  sum.constant = expr::multiply(x.constant, y.constant);
  for (const auto& [c, t] : x.terms) {
    sum.add(expr::multiply(c, y.constant), t);
    for (const auto& [d, u] : y.terms) sum.add(expr::multiply(c, d), expr::multiply_terms(t, u));
  }
  for (const auto& [d, u] : y.terms) sum.add(expr::multiply(d, x.constant), u);
  return sum.build();
}

}  // namespace tenon
