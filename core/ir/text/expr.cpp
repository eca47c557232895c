// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/text/expr.hpp"

#include <algorithm>
#include <optional>

#include "core/expr/expr_node.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// More than an Expr can have, so that every printed expression parses.
constexpr int kMaxExprNesting = 256;
constexpr int kMaxOperations = 10000;

/// Precedence climbing, with one function for each level.
class ExprParser {
 public:
  ExprParser(Cursor& cursor, const SymbolTable& symbols) : cursor_(cursor), symbols_(symbols) {}

  Expr any() {
    const size_t start = cursor_.position();
    if (++nesting_ > kMaxExprNesting)
      cursor_.error_at(
          start, fmt::format("expected at most {} nested parentheses, got more", kMaxExprNesting));
    Expr result = all_of();
    while (cursor_.accept("||")) result = apply(logical_or, result, all_of());
    --nesting_;
    return result;
  }

 private:
  template <class F>
  Expr apply(F&& operation, const Expr& a, const Expr& b) {
    if (++operations_ > kMaxOperations)
      cursor_.expected(fmt::format("at most {} operations in an expression", kMaxOperations));
    return operation(a, b);
  }

  Expr all_of() {
    Expr result = comparison();
    while (cursor_.accept("&&")) result = apply(logical_and, result, comparison());
    return result;
  }

  Expr comparison() {
    Expr left = sum();
    if (cursor_.accept("==")) return apply(equal, left, sum());
    if (!cursor_.peek("<=") && cursor_.accept("<")) return apply(less, left, sum());
    return left;
  }

  /// Builds the sum once from all terms: simplifying partial sums could end in another form.
  Expr sum() {
    expr::Linear total(term());
    while (true) {
      const bool minus = cursor_.peek("-");
      if (!minus && !cursor_.peek("+")) return total.build();
      cursor_.accept(minus ? "-" : "+");
      apply([&](auto&, auto& t) { return total.add(minus ? -1 : 1, t), t; }, 0, term());
    }
  }

  Expr term() {
    Expr result = unary();
    while (true) {
      // On the next line, % begins a value name.
      if (cursor_.line_ends() && cursor_.peek("%")) return result;
      if (cursor_.accept("//")) {
        result = apply(floor_div, result, unary());
      } else if (cursor_.accept("*")) {
        result = apply([](auto& a, auto& b) { return a * b; }, result, unary());
      } else if (cursor_.accept("%")) {
        result = apply(mod, result, unary());
      } else {
        return result;
      }
    }
  }

  Expr unary() {
    bool negative = false;
    while (!is_number() && cursor_.accept("-")) negative = !negative;
    const Expr result = atom();
    return negative ? -result : result;
  }

  /// A minus right before a digit belongs to the number: -2^63 has no positive.
  bool is_number() {
    for (char digit = '0'; digit <= '9'; ++digit)
      if (cursor_.peek(std::string{'-', digit}) || cursor_.peek(std::string{digit})) return true;
    return false;
  }

  Expr atom() {
    if (is_number()) return cursor_.integer("an integer");
    if (cursor_.accept("(")) {
      Expr inner = any();
      cursor_.expect(")");
      return inner;
    }
    const size_t start = cursor_.position();
    const std::string name = cursor_.identifier("a symbol, a number or '('");
    if (name == "min" || name == "max") return extreme(name == "min");
    const auto at = symbols_.find(name);
    if (at == symbols_.end())
      cursor_.error_at(start, fmt::format("expected a symbol with bounds (where 1 <= {} <= ...), "
                                          "got {}",
                                          name, sdk::quote(name)));
    return at->second;
  }

  Expr extreme(bool smallest) {
    cursor_.expect("(");
    Expr result = any();
    while (cursor_.accept(",")) {
      const Expr next = any();
      result = smallest ? apply([](auto& a, auto& b) { return min(a, b); }, result, next)
                        : apply([](auto& a, auto& b) { return max(a, b); }, result, next);
    }
    cursor_.expect(")");
    return result;
  }

  Cursor& cursor_;
  const SymbolTable& symbols_;
  int nesting_ = 0;
  int operations_ = 0;
};

}  // namespace

Expr parse_expr(Cursor& cursor, const SymbolTable& symbols) {
  const size_t start = cursor.position();
  if (const std::optional<int64_t> number = cursor.lone_number()) return *number;
  try {
    return ExprParser(cursor, symbols).any();
  } catch (const Error& error) {
    // Adds the place to errors of the algebra, such as a divisor below 1.
    if (std::string_view(error.what()).starts_with("[expr]")) cursor.error_at(start, error.what());
    throw;
  }
}

Shape parse_shape(Cursor& cursor, const SymbolTable& symbols) {
  Shape shape;
  cursor.expect("[");
  if (cursor.accept("]")) return shape;
  do {
    if (shape.size() == kMaxRank) cursor.expected(fmt::format("at most {} axes", kMaxRank));
    shape.push_back(parse_expr(cursor, symbols));
  } while (cursor.accept(","));
  cursor.expect("]");
  return shape;
}

WrittenType parse_type(Cursor& cursor, const SymbolTable& symbols) {
  WrittenType written;
  written.position = cursor.position();
  if (!cursor.peek("[")) {
    const std::string name = cursor.identifier("a type like f32[4, n]");
    const auto dtype = dtype_from_name(name);
    if (!dtype)
      cursor.error_at(written.position, fmt::format("expected a dtype, got {}", sdk::quote(name)));
    written.type.dtype = *dtype;
    written.has_dtype = true;
    if (!cursor.peek("[")) return written;
  }
  const size_t open = cursor.position();
  cursor.expect("[");
  if (cursor.accept("..")) {
    cursor.expect("]");
    return written;
  }
  cursor.seek(open);
  written.type.shape = parse_shape(cursor, symbols);
  written.has_shape = true;
  return written;
}

std::vector<Expr> parse_bounds(Cursor& cursor, std::vector<ValueBounds>* values) {
  std::vector<Expr> symbols;
  size_t count = 0;
  do {
    const int64_t low = cursor.integer("a lower bound as in 1 <= n <= 64");
    cursor.expect("<=");
    const size_t start = cursor.position();
    const bool is_value = values && cursor.peek("%");
    const std::string name(is_value ? cursor.value_name() : cursor.identifier("a symbol"));
    if (!is_value && !is_symbol_name(name))
      cursor.error_at(start, fmt::format("expected a symbol name, got {}", sdk::quote(name)));
    const bool is_known =
        is_value ? std::ranges::find(*values, name, &ValueBounds::value) != values->end()
                 : std::ranges::find(symbols, name, &Expr::name) != symbols.end();
    if (is_known)
      cursor.error_at(start, fmt::format("expected each {} once, got {} twice",
                                         is_value ? "value" : "symbol", name));
    cursor.expect("<=");
    const int64_t high = cursor.integer("an upper bound as in 1 <= n <= 64");
    if (low > high)
      cursor.error_at(
          start,
          fmt::format("expected a lower bound up to the upper one, got {} and {}", low, high));
    if (is_value)
      values->push_back({start, name, low, high});
    else
      symbols.push_back(Expr::symbol(name, low, high));
    if (++count > kMaxName) cursor.expected(fmt::format("at most {} symbols", kMaxName));
  } while (cursor.accept(","));
  return symbols;
}

}  // namespace tenon
