// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions as text: products before sums before comparisons, as in C.
#include <fmt/format.h>

#include "core/expr/expr_node.hpp"

namespace tenon {
namespace {

enum Level { kLoosest = 0, kOr = 1, kAnd = 2, kCompare = 3, kSum = 4, kProduct = 5, kAtom = 6 };

Level level_of(const Expr& e) {
  switch (e.kind()) {
    case ExprKind::kConst:
      return e.value() < 0 ? kSum : kAtom;
    case ExprKind::kSymbol:
    case ExprKind::kMin:
    case ExprKind::kMax:
      return kAtom;
    case ExprKind::kSum:
      return e.terms().size() == 1 && e.constant() == 0 && e.terms()[0].first > 0 ? kProduct : kSum;
    case ExprKind::kProduct:
    case ExprKind::kDiv:
    case ExprKind::kMod:
      return kProduct;
    case ExprKind::kLess:
    case ExprKind::kEqual:
      return kCompare;
    case ExprKind::kAnd:
      return kAnd;
    case ExprKind::kOr:
      return kOr;
  }
  return kLoosest;
}

void print(const Expr& e, Level needed, std::string& out);

void print_sum(const Expr& e, std::string& out) {
  bool first = true;
  for (const auto& [c, t] : e.terms()) {
    // -INT64_MIN is no int64.
    const uint64_t size = c < 0 ? uint64_t{0} - static_cast<uint64_t>(c) : static_cast<uint64_t>(c);
    const bool minus_first = first && c < 0;
    // "-x//2*y" is ((-x)//2)*y.
    const bool splits = minus_first && expr::factors(t)[0].kind() != ExprKind::kSymbol;
    if (minus_first) {
      out += "-";
    } else if (!first) {
      out += c < 0 ? " - " : " + ";
    }
    first = false;
    if (size == 1) {
      print(t, splits ? kAtom : kProduct, out);
      continue;
    }
    // A leading number keeps "3*(x//2)" from reading as (3*x)//2.
    if (!splits && (t.kind() == ExprKind::kProduct || t.kind() == ExprKind::kSymbol)) {
      print(t, kProduct, out);
      out += fmt::format("*{}", size);
    } else {
      out += fmt::format("{}*", size);
      print(t, kAtom, out);
    }
  }
  if (e.constant() != 0) {
    const int64_t c = e.constant();
    out += c < 0 ? " - " : " + ";
    out +=
        std::to_string(c < 0 ? uint64_t{0} - static_cast<uint64_t>(c) : static_cast<uint64_t>(c));
  }
}

void print_joined(const Expr& e, std::string_view with, Level first, Level others,
                  std::string& out) {
  for (size_t i = 0; i < e.operands().size(); ++i) {
    if (i > 0) out += with;
    print(e.operands()[i], i == 0 ? first : others, out);
  }
}

void print_bare(const Expr& e, std::string& out) {
  switch (e.kind()) {
    case ExprKind::kConst:
      out += std::to_string(e.value());
      return;
    case ExprKind::kSymbol:
      out += e.name();
      return;
    case ExprKind::kSum:
      print_sum(e, out);
      return;
    case ExprKind::kProduct:
      print_joined(e, "*", kProduct, kAtom, out);
      return;
    case ExprKind::kDiv:
      print_joined(e, "//", kProduct, kAtom, out);
      return;
    case ExprKind::kMod:
      print_joined(e, "%", kProduct, kAtom, out);
      return;
    case ExprKind::kMin:
    case ExprKind::kMax:
      out += e.kind() == ExprKind::kMin ? "min(" : "max(";
      print_joined(e, ", ", kLoosest, kLoosest, out);
      out += ")";
      return;
    case ExprKind::kLess:
      print_joined(e, " < ", kSum, kSum, out);
      return;
    case ExprKind::kEqual:
      print_joined(e, " == ", kSum, kSum, out);
      return;
    case ExprKind::kAnd:
      print_joined(e, " && ", kCompare, kCompare, out);
      return;
    case ExprKind::kOr:
      print_joined(e, " || ", kAnd, kAnd, out);
      return;
  }
}

void print(const Expr& e, Level needed, std::string& out) {
  const bool parentheses = level_of(e) < needed;
  if (parentheses) out += "(";
  print_bare(e, out);
  if (parentheses) out += ")";
}

}  // namespace

std::string to_string(const Expr& expr) {
  std::string out;
  print(expr, kLoosest, out);
  return out;
}

}  // namespace tenon
