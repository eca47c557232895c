// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of axes: numbers, or expressions over symbols whose values are known when a graph runs.
//
//   const Size n = Size::symbol("n", 1, 4096);
//   const auto f = compile([](Tensor x) { return x.softmax(-1).mean(0); });
//   for (..) f(batch.with_size(0, n));   // one trace and one plan for batches of 1 to 4096 rows
//
// Shapes are made of them: x.sizes(), x.reshape({n * 2, -1}), zeros({n, 4}). Two sizes are
// equal where they are for all values of their symbols; what holds for some values only is refused,
// and the message names the symbol.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/export.hpp"

namespace tenon {

class Expr;

class TENON_API Size {
 public:
  template <std::integral T>
  Size(T value) : value_(static_cast<int64_t>(value)) {}  // NOLINT: numbers are sizes
  Size(const Size&) = default;                            // a move is a copy: none becomes a 0
  Size& operator=(const Size&) = default;
  /// Any of minimum to maximum, both of at least 0. Where a graph has a name twice, it is one
  /// symbol, with one pair of bounds. Throws kInvalid for other bounds, and a name that is no
  /// identifier.
  static Size symbol(const std::string& name, int64_t minimum, int64_t maximum);

  bool is_fixed() const { return expr_ == nullptr; }
  /// Of one that is fixed. Throws kInvalid with the expression.
  int64_t value() const;
  int64_t minimum() const;
  int64_t maximum() const;
  std::string text() const;  ///< "12", "n*2 + 1"
  bool operator==(const Size& other) const;

  /// The library's own; null for one that is fixed.
  const std::shared_ptr<const Expr>& expr() const { return expr_; }
  explicit Size(std::shared_ptr<const Expr> expr);

 private:
  int64_t value_ = 0;
  std::shared_ptr<const Expr> expr_;
};

TENON_API Size operator+(const Size& a, const Size& b);
TENON_API Size operator-(const Size& a, const Size& b);
TENON_API Size operator*(const Size& a, const Size& b);
/// Toward minus infinity, and what remains: b is at least 1, else they throw kInvalid.
TENON_API Size operator/(const Size& a, const Size& b);
TENON_API Size operator%(const Size& a, const Size& b);

/// A shape, as functions take it: {n, 10}, or a vector of numbers.
class Sizes {
 public:
  Sizes() = default;
  Sizes(std::initializer_list<Size> sizes) : sizes_(sizes) {}
  Sizes(std::vector<Size> sizes) : sizes_(std::move(sizes)) {}                      // NOLINT
  Sizes(const std::vector<int64_t>& sizes) : sizes_(sizes.begin(), sizes.end()) {}  // NOLINT

  size_t size() const { return sizes_.size(); }
  const Size& operator[](size_t axis) const& { return sizes_[axis]; }
  Size operator[](size_t axis) && { return sizes_[axis]; }
  auto begin() const& { return sizes_.begin(); }
  auto end() const& { return sizes_.end(); }
  void begin() && = delete;  // x.sizes().begin() and x.sizes().end() are of two vectors
  void end() && = delete;
  std::vector<Size> vector() const& { return sizes_; }
  std::vector<Size> vector() && { return std::move(sizes_); }
  bool operator==(const Sizes&) const = default;

 private:
  std::vector<Size> sizes_;
};

/// What stands before and after the leading axes, as `pad` takes it: {{1, 1}, {0, m - n}}.
class PadWidths {
 public:
  using Pair = std::pair<Size, Size>;
  PadWidths() = default;
  PadWidths(std::initializer_list<Pair> pairs) : pairs_(pairs) {}
  PadWidths(std::vector<Pair> pairs) : pairs_(std::move(pairs)) {}  // NOLINT
  PadWidths(const std::vector<std::pair<int64_t, int64_t>>& pairs)  // NOLINT
      : pairs_(pairs.begin(), pairs.end()) {}

  size_t size() const { return pairs_.size(); }
  const Pair& operator[](size_t axis) const& { return pairs_[axis]; }
  Pair operator[](size_t axis) && { return std::move(pairs_[axis]); }

 private:
  std::vector<Pair> pairs_;
};

}  // namespace tenon
