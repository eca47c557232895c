// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks of an expression: its symbols, substitution, evaluation.
#include <algorithm>
#include <unordered_map>

#include "core/expr/expr_node.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// The operation of a node on new operands.
Expr rebuild(const Expr& e, const std::vector<Expr>& xs) {
  const auto fold = [&](auto&& combine) {
    Expr result = xs[0];
    for (size_t i = 1; i < xs.size(); ++i) result = combine(result, xs[i]);
    return result;
  };
  switch (e.kind()) {
    case ExprKind::kConst:
    case ExprKind::kSymbol:
    case ExprKind::kSum:
      return e;
    case ExprKind::kProduct:
      return fold([](auto& a, auto& b) { return a * b; });
    case ExprKind::kDiv:
      return floor_div(xs[0], xs[1]);
    case ExprKind::kMod:
      return mod(xs[0], xs[1]);
    case ExprKind::kMin:
      return fold([](auto& a, auto& b) { return min(a, b); });
    case ExprKind::kMax:
      return fold([](auto& a, auto& b) { return max(a, b); });
    case ExprKind::kLess:
      return less(xs[0], xs[1]);
    case ExprKind::kEqual:
      return equal(xs[0], xs[1]);
    case ExprKind::kAnd:
      return fold([](auto& a, auto& b) { return logical_and(a, b); });
    case ExprKind::kOr:
      return fold([](auto& a, auto& b) { return logical_or(a, b); });
  }
  return e;
}

/// Larger expressions are substituted once for all of their uses; for smaller ones a memo costs
/// more.
constexpr uint32_t kSmall = 32;

struct Substitution {
  const std::map<std::string, Expr>& values;
  uint64_t mask = 0;
  std::unordered_map<const Expr::Node*, Expr> known = {};

  Expr of(const Expr& e) {
    if (!(e.node()->mask & mask)) return e;
    if (e.kind() == ExprKind::kSymbol) {
      const auto at = values.find(e.name());
      return at == values.end() ? e : at->second;
    }
    if (e.size() <= kSmall) return anew(e);
    if (const auto found = known.find(e.node()); found != known.end()) return found->second;
    Expr out = anew(e);
    known.emplace(e.node(), out);
    return out;
  }

 private:
  Expr anew(const Expr& e) {
    if (e.kind() == ExprKind::kSum) {
      expr::Linear sum;
      sum.constant = e.node()->value;
      for (const auto& [c, t] : e.node()->terms) sum.add(c, of(t));
      return sum.build();
    }
    std::vector<Expr> operands;
    for (const Expr& f : e.operands()) operands.push_back(of(f));
    return rebuild(e, operands);
  }
};

int64_t positive(int64_t divisor, const Expr& e) {
  TN_REQUIRE(divisor >= 1, "[expr] expected a divisor of at least 1, got {} in {}", divisor,
             to_string(e));
  return divisor;
}

}  // namespace

bool Expr::depends_on(std::string_view symbol) const {
  if (!(node_->mask & expr::name_mask(symbol))) return false;
  if (kind() == ExprKind::kSymbol) return name() == symbol;
  return std::ranges::any_of(node_->operands, [&](auto& e) { return e.depends_on(symbol); }) ||
         std::ranges::any_of(node_->terms, [&](auto& t) { return t.second.depends_on(symbol); });
}

void Expr::collect_symbols(std::map<std::string, Expr>& out) const {
  if (node_->mask == 0) return;
  if (kind() == ExprKind::kSymbol) {
    out.emplace(name(), *this);
    return;
  }
  for (const Expr& e : node_->operands) e.collect_symbols(out);
  for (const auto& [c, t] : node_->terms) t.collect_symbols(out);
}

bool Expr::linear_in(std::string_view symbol, int64_t& coefficient, Expr& rest) const {
  expr::Linear others;
  others.constant = constant();
  int64_t found = 0;
  for (const auto& [c, t] : terms()) {
    if (!t.depends_on(symbol)) {
      others.add(c, t);
    } else if (t.kind() == ExprKind::kSymbol) {
      found = c;
    } else {
      return false;
    }
  }
  coefficient = found;
  rest = others.build();
  return true;
}

bool Expr::divisible_by(int64_t divisor) const {
  TN_REQUIRE(divisor >= 1, "[expr] expected a divisor of at least 1, got {}", divisor);
  return expr::content(*this) % divisor == 0;
}

Expr Expr::substitute(const std::map<std::string, Expr>& values) const {
  uint64_t mask = 0;
  for (const auto& [name, value] : values) mask |= expr::name_mask(name);
  return Substitution{values, mask}.of(*this);
}

int64_t Expr::evaluate(const std::map<std::string, int64_t>& values) const {
  const auto at = [&](size_t i) { return node_->operands[i].evaluate(values); };
  const auto fold = [&](auto&& combine) {
    int64_t result = at(0);
    for (size_t i = 1; i < node_->operands.size(); ++i) result = combine(result, at(i));
    return result;
  };
  switch (kind()) {
    case ExprKind::kConst:
      return node_->value;
    case ExprKind::kSymbol: {
      const auto found = values.find(node_->name);
      TN_REQUIRE(found != values.end(), "[expr] expected a value for symbol {}, got none",
                 node_->name);
      return found->second;
    }
    case ExprKind::kSum: {
      int64_t total = node_->value;
      for (const auto& [c, t] : node_->terms)
        total = expr::add(total, expr::multiply(c, t.evaluate(values)));
      return total;
    }
    case ExprKind::kProduct:
      return fold(expr::multiply);
    case ExprKind::kDiv:
      return expr::floor_div(at(0), positive(at(1), *this));
    case ExprKind::kMod:
      return expr::floor_mod(at(0), positive(at(1), *this));
    case ExprKind::kMin:
      return fold([](int64_t a, int64_t b) { return std::min(a, b); });
    case ExprKind::kMax:
      return fold([](int64_t a, int64_t b) { return std::max(a, b); });
    case ExprKind::kLess:
      return at(0) < at(1);
    case ExprKind::kEqual:
      return at(0) == at(1);
    case ExprKind::kAnd:
      return fold([](int64_t a, int64_t b) { return int64_t{a && b}; });
    case ExprKind::kOr:
      return fold([](int64_t a, int64_t b) { return int64_t{a || b}; });
  }
  TN_ASSERT(false);
}

}  // namespace tenon
