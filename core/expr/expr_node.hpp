// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The node of an Expr, and functions shared by the files of the algebra. Private to core/expr.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/expr/expr.hpp"

namespace tenon {

struct Expr::Node {
  ExprKind kind = ExprKind::kConst;
  uint8_t levels = 0;  ///< depth below, so that recursion is bounded
  uint32_t size = 1;   ///< operations and leaves below, each as often as it is used
  bool has_extent = false;
  int64_t value = 0;  ///< of a kConst; the constant of a kSum
  int64_t min = 0, max = 0;
  uint64_t hash = 0;
  uint64_t mask = 0;  ///< one bit for each symbol below, by its name's hash
  std::string name;
  std::vector<Expr> operands;                   ///< kSymbol: its extent, if that is no number
  std::vector<std::pair<int64_t, Expr>> terms;  ///< kSum
};

namespace expr {

using Term = std::pair<int64_t, Expr>;

/// A sum under construction: constant + sum of coefficient * term, with terms sorted and unique.
struct Linear {
  int64_t constant = 0;
  std::vector<Term> terms;

  Linear() = default;
  explicit Linear(const Expr& e);
  void add(int64_t coefficient, const Expr& e);  ///< e may be a sum or a constant
  void scale(int64_t factor);
  Expr build() const;   ///< simplified and canonical
  int64_t max() const;  ///< uses the symbolic extents of index symbols
  int64_t min() const;
  int64_t sharp_max() const;  ///< slower; also relates x//d, x%d, min and max to x
  int64_t sharp_min() const;
  uint64_t mask() const;
};

/// Limits the work of one operation. Simplifying nested expressions recurses in many ways, so one
/// operation, with everything nested in it, gets a number of steps. When they are spent, no more
/// rules apply, and the result is correct but less simple.
class Step {
 public:
  Step();
  ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  explicit operator bool() const;  ///< false: none was left
};

int64_t add(int64_t a, int64_t b);  ///< throw on overflow
int64_t multiply(int64_t a, int64_t b);
int64_t negate(int64_t a);
int64_t floor_div(int64_t a, int64_t b);
int64_t floor_mod(int64_t a, int64_t b);

/// Total order on structure, not on addresses, which sorts terms and operands.
int compare(const Expr& a, const Expr& b);
uint64_t name_mask(std::string_view name);
/// Fills hash, mask and levels.
Expr finish(Expr::Node node);
Expr make(ExprKind kind, std::vector<Expr> operands, int64_t min, int64_t max);

/// The greatest number known to divide e; 0 for e = 0.
int64_t content(const Expr& e);
/// Factors of a term: operands of a product, else the term itself.
std::vector<Expr> factors(const Expr& e);
/// Sets `rest` to e without one occurrence of each given factor. False if one is missing.
bool remove_factors(const Expr& e, const std::vector<Expr>& removed, Expr& rest);
/// Recombines (x//b)*b + x%b and its partial forms.
void recombine(Linear& sum);

}  // namespace expr
}  // namespace tenon
