// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer expressions for dimensions of shapes, index arithmetic and masks.
//
// An Expr is an immutable value in canonical form. Construction simplifies it, using the bounds of
// its symbols, so equal expressions compare equal and bounds are always known. Sums are kept as
// constant + sum of coefficient * term, sorted. Division and remainder are floored, and their
// divisor is positive. All arithmetic is exact in int64; overflow of a bound throws.
// An expression of more than 16384 operations, each counted as often as it is used, is refused, so
// that walks may take it for a tree.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon {

enum class ExprKind : uint8_t {
  kConst,
  kSymbol,
  kSum,
  kProduct,
  kDiv,
  kMod,
  kMin,
  kMax,
  kLess,
  kEqual,
  kAnd,
  kOr,  // 0 or 1
};

class Expr {
 public:
  Expr(int64_t value = 0);  // NOLINT: a number is an expression
  /// A named integer in [minimum, maximum]. Equal names must have equal bounds.
  static Expr symbol(std::string name, int64_t minimum, int64_t maximum);
  /// An index in [0, extent): the simplifier knows that it is below the extent, also a symbolic
  /// one. (Of an extent of 0 it is in [0, 0], and nothing is ever evaluated.)
  static Expr symbol(std::string name, const Expr& extent);

  ExprKind kind() const;
  bool is_const() const { return kind() == ExprKind::kConst; }
  bool is_const(int64_t value) const;
  int64_t value() const;            ///< of a kConst
  const std::string& name() const;  ///< of a kSymbol
  const Expr* extent() const;       ///< of an index: what it is below; null if that is a number
  int64_t min() const;              ///< proven bounds
  int64_t max() const;
  uint64_t hash() const;
  /// Operations and leaves, each counted as often as it is used.
  uint32_t size() const;

  /// kSum: the constant and the (coefficient, term) pairs. Other kinds read as 0 + 1 * this (or a
  /// constant).
  int64_t constant() const;
  std::vector<std::pair<int64_t, Expr>> terms() const;
  /// Operands of kProduct, kDiv, kMod, kMin, kMax, kLess, kEqual, kAnd, kOr.
  const std::vector<Expr>& operands() const;

  bool depends_on(std::string_view symbol) const;
  void collect_symbols(std::map<std::string, Expr>& out) const;
  /// If this is a*symbol + rest with rest free of the symbol: (a, rest).
  bool linear_in(std::string_view symbol, int64_t& coefficient, Expr& rest) const;
  /// Whether `divisor` is proven to divide this for all values of the symbols.
  bool divisible_by(int64_t divisor) const;

  Expr substitute(const std::map<std::string, Expr>& values) const;
  /// Throws if a symbol has no value.
  int64_t evaluate(const std::map<std::string, int64_t>& values) const;

  bool operator==(const Expr& other) const;

  struct Node;
  const Node* node() const { return node_.get(); }
  explicit Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

 private:
  std::shared_ptr<const Node> node_;
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator*(const Expr& a, const Expr& b);
Expr floor_div(const Expr& a, const Expr& b);  ///< b >= 1
Expr mod(const Expr& a, const Expr& b);        ///< b >= 1; result in [0, b)
Expr ceil_div(const Expr& a, const Expr& b);
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
Expr less(const Expr& a, const Expr& b);  ///< 1 or 0; a constant where the bounds decide
Expr equal(const Expr& a, const Expr& b);
Expr logical_and(const Expr& a, const Expr& b);
Expr logical_or(const Expr& a, const Expr& b);

/// Prints as C would: "n*4 + m//2 - 1"; // is floored division.
std::string to_string(const Expr& expr);

using Dim = Expr;
using Shape = std::vector<Dim>;

Dim product(const Shape& shape);
bool is_static(const Shape& shape);
std::string to_string(const Shape& shape);  ///< "[n, 10]"
/// Row-major strides in elements.
Shape row_major_strides(const Shape& shape);
/// True only if proven equal.
bool same_shape(const Shape& a, const Shape& b);

struct ExprHash {
  size_t operator()(const Expr& e) const { return e.hash(); }
};

}  // namespace tenon
