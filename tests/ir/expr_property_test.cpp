// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random expressions: the simplified form equals a plain tree evaluated beside it, for all values.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <random>

#include "core/expr/expr.hpp"
#include "core/ir/text/expr.hpp"

namespace tenon {
namespace {

/// The plain tree: no algebra at all.
struct Tree {
  enum Kind { kNumber, kName, kAdd, kSub, kMul, kDiv, kMod, kMin, kMax, kLess, kEqual, kAnd, kOr };
  Kind kind = kNumber;
  int64_t number = 0;  ///< value, or index of the symbol
  std::shared_ptr<Tree> a, b;

  int64_t evaluate(const std::vector<int64_t>& values) const {
    if (kind == kNumber) return number;
    if (kind == kName) return values[static_cast<size_t>(number)];
    const int64_t x = a->evaluate(values), y = b->evaluate(values);
    switch (kind) {
      case kAdd:
        return x + y;
      case kSub:
        return x - y;
      case kMul:
        return x * y;
      case kDiv:
        return (x - ((x % y) + y) % y) / y;
      case kMod:
        return ((x % y) + y) % y;
      case kMin:
        return std::min(x, y);
      case kMax:
        return std::max(x, y);
      case kLess:
        return x < y;
      case kEqual:
        return x == y;
      case kAnd:
        return x && y;
      case kOr:
        return x || y;
      case kNumber:
      case kName:
        break;
    }
    return 0;
  }
};

struct Pair {
  std::shared_ptr<Tree> tree;
  Expr expr;
};

/// Symbols: 0 and 1 are sizes, 2 and 3 indices below them, 4 and 5 plain ranges.
struct Symbols {
  std::vector<Expr> exprs;
  Symbols() {
    const Expr n = Expr::symbol("n", 1, 4), m = Expr::symbol("m", 1, 3);
    exprs = {n,
             m,
             Expr::symbol("i", n),
             Expr::symbol("j", m),
             Expr::symbol("p", -3, 4),
             Expr::symbol("q", 0, 6)};
  }
  template <class F>
  void for_all(F&& f) const {
    for (int64_t n = 1; n <= 4; ++n)
      for (int64_t m = 1; m <= 3; ++m)
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < m; ++j)
            for (int64_t p = -3; p <= 4; ++p)
              for (int64_t q = 0; q <= 6; ++q) f(std::vector<int64_t>{n, m, i, j, p, q});
  }
};

class ExprGenerator {
 public:
  ExprGenerator(const Symbols& symbols, uint64_t seed) : symbols_(symbols), random_(seed) {}

  Pair any(int depth) {
    if (depth == 0 || below(8) == 0) return leaf();
    const auto kind = static_cast<Tree::Kind>(Tree::kAdd + weighted());
    Pair a = any(depth - 1);
    Pair b = kind == Tree::kDiv || kind == Tree::kMod ? divisor() : any(depth - 1);
    return join(kind, a, b);
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }

  /// Index arithmetic has more sums, products and divisions than comparisons.
  int weighted() {
    static const int kinds[] = {0, 0, 0, 1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6, 7, 8, 9, 10};
    return kinds[below(std::size(kinds))];
  }

  Pair leaf() {
    auto tree = std::make_shared<Tree>();
    if (below(3) == 0) {
      tree->number = below(14) - 4;
      return {tree, Expr(tree->number)};
    }
    tree->kind = Tree::kName;
    tree->number = below(6);
    return {tree, symbols_.exprs[static_cast<size_t>(tree->number)]};
  }

  Pair divisor() {
    auto tree = std::make_shared<Tree>();
    if (below(3) > 0) {
      tree->number = 1 + below(12);
      return {tree, Expr(tree->number)};
    }
    tree->kind = Tree::kName;
    tree->number = below(2);
    Pair size{tree, symbols_.exprs[static_cast<size_t>(tree->number)]};
    if (below(2)) return size;
    auto number = std::make_shared<Tree>();
    number->number = 1 + below(4);
    return join(below(2) ? Tree::kMul : Tree::kAdd, size, {number, Expr(number->number)});
  }

  static Pair join(Tree::Kind kind, const Pair& a, const Pair& b) {
    auto tree = std::make_shared<Tree>();
    tree->kind = kind;
    tree->a = a.tree;
    tree->b = b.tree;
    const Expr &x = a.expr, &y = b.expr;
    switch (kind) {
      case Tree::kAdd:
        return {tree, x + y};
      case Tree::kSub:
        return {tree, x - y};
      case Tree::kMul:
        return {tree, x * y};
      case Tree::kDiv:
        return {tree, floor_div(x, y)};
      case Tree::kMod:
        return {tree, mod(x, y)};
      case Tree::kMin:
        return {tree, min(x, y)};
      case Tree::kMax:
        return {tree, max(x, y)};
      case Tree::kLess:
        return {tree, less(x, y)};
      case Tree::kEqual:
        return {tree, equal(x, y)};
      case Tree::kAnd:
        return {tree, logical_and(x, y)};
      case Tree::kOr:
        return {tree, logical_or(x, y)};
      case Tree::kNumber:
      case Tree::kName:
        break;
    }
    return a;
  }

  const Symbols& symbols_;
  std::mt19937_64 random_;
};

std::map<std::string, int64_t> named(const std::vector<int64_t>& v) {
  return {{"n", v[0]}, {"m", v[1]}, {"i", v[2]}, {"j", v[3]}, {"p", v[4]}, {"q", v[5]}};
}

TEST_CASE("simplified expressions keep their value and their bounds") {
  const Symbols symbols;
  std::mt19937_64 pick(11);
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    const Pair pair = ExprGenerator(symbols, seed).any(2 + static_cast<int>(seed % 4));
    INFO("seed " << seed << ": " << to_string(pair.expr));
    const uint64_t stride = 1 + pick() % 37, first = pick() % stride;
    uint64_t at = 0, wrong = 0;
    symbols.for_all([&](const std::vector<int64_t>& values) {
      if (at++ % stride != first) return;
      const int64_t value = pair.tree->evaluate(values);
      wrong += pair.expr.evaluate(named(values)) != value;
      wrong += value < pair.expr.min() || value > pair.expr.max();
    });
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("substitution commutes with evaluation") {
  const Symbols symbols;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const Pair pair = ExprGenerator(symbols, seed).any(3);
    const Pair inner = ExprGenerator(symbols, seed + 100000).any(2);
    const Expr replaced = pair.expr.substitute({{"p", inner.expr}});
    INFO(to_string(pair.expr) << " with p = " << to_string(inner.expr));
    uint64_t at = 0, wrong = 0;
    symbols.for_all([&](std::vector<int64_t> values) {
      if (at++ % 53 != seed % 53) return;
      const auto before = named(values);
      values[4] = inner.tree->evaluate(values);
      // Simplification may use the bounds of p.
      if (values[4] < -3 || values[4] > 4) return;
      wrong += replaced.evaluate(before) != pair.tree->evaluate(values);
    });
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("printed expressions read back as themselves") {
  const Symbols symbols;
  SymbolTable table;
  for (const Expr& s : symbols.exprs) table.emplace(s.name(), s);
  uint64_t different = 0;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    const Expr expr = ExprGenerator(symbols, seed).any(2 + static_cast<int>(seed % 4)).expr;
    const std::string text = to_string(expr);
    Cursor cursor(text, "expr");
    const Expr again = parse_expr(cursor, table);
    INFO("seed " << seed << ": " << text << " became " << to_string(again));
    CHECK(cursor.at_end());
    different += !(again == expr);
    CHECK(again == expr);
  }
  CHECK(different == 0);
}

}  // namespace
}  // namespace tenon
