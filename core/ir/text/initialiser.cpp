// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/text/initialiser.hpp"

#include <cmath>
#include <map>

namespace tenon {
namespace {

constexpr int kMaxBeginNesting = 64;

/// Parses and evaluates numbers computed from sizes, as sqrt(6 / (i + o)).
class RealParser {
 public:
  RealParser(Cursor& cursor, const SymbolTable& symbols) : cursor_(cursor), symbols_(symbols) {}

  double sum() {
    if (++nesting_ > kMaxBeginNesting)
      cursor_.expected(fmt::format("at most {} nested parentheses", kMaxBeginNesting));
    double result = product();
    while (true) {
      if (cursor_.accept("+"))
        result += product();
      else if (cursor_.accept("-"))
        result -= product();
      else
        break;
    }
    --nesting_;
    return result;
  }

 private:
  double product() {
    double result = factor();
    while (true) {
      if (cursor_.accept("*"))
        result *= factor();
      else if (cursor_.accept("/"))
        result /= factor();
      else
        return result;
    }
  }

  double factor() {
    double sign = 1;
    while (cursor_.accept("-")) sign = -sign;
    return sign * atom();
  }

  double in_parentheses() {
    cursor_.expect("(");
    const double result = sum();
    cursor_.expect(")");
    return result;
  }

  double atom() {
    if (cursor_.peek("(")) return in_parentheses();
    const size_t start = cursor_.position();
    double value = 0;
    if (sdk::is_digit(cursor_.next()) || cursor_.next() == '.') {
      if (cursor_.number(value) != std::errc()) cursor_.expected("a number");
      return value;
    }
    const std::string name = cursor_.identifier("a number, a size, sqrt or '('");
    if (name == "sqrt") return std::sqrt(in_parentheses());
    const auto at = symbols_.find(name);
    if (at == symbols_.end() || !at->second.is_const())
      cursor_.error_at(
          start, fmt::format("expected a number, a size, sqrt or '(', got {}", sdk::quote(name)));
    return static_cast<double>(at->second.value());
  }

  Cursor& cursor_;
  const SymbolTable& symbols_;
  int nesting_ = 0;
};

/// Throws for a number that is not finite.
double parse_real(Cursor& cursor, const SymbolTable& symbols) {
  const size_t start = cursor.position();
  const double value = RealParser(cursor, symbols).sum();
  if (!std::isfinite(value))
    cursor.error_at(start, fmt::format("expected a finite number, got {}", value));
  return value;
}

}  // namespace

Initialiser parse_initialiser(Cursor& cursor, const SymbolTable& symbols) {
  using Kind = Initialiser::Kind;
  const char* const what = "zeros, ones, constant(..), uniform(..) or normal(..)";
  const size_t start = cursor.position();
  const std::string name = cursor.identifier(what);
  if (name == "zeros") return {Kind::kConstant, 0};
  if (name == "ones") return {Kind::kConstant, 1};
  const std::map<std::string, Kind> kinds = {
      {"constant", Kind::kConstant}, {"uniform", Kind::kUniform}, {"normal", Kind::kNormal}};
  const auto kind = kinds.find(name);
  if (kind == kinds.end())
    cursor.error_at(start, fmt::format("expected {}, got {}", what, sdk::quote(name)));
  cursor.expect("(");
  const size_t at = cursor.position();
  const double number = parse_real(cursor, symbols);
  if (kind->second != Kind::kConstant && number < 0)
    cursor.error_at(at, fmt::format("expected a number of 0 and more, got {}", number));
  cursor.expect(")");
  return {kind->second, number};
}

}  // namespace tenon
