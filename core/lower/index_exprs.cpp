// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/index_exprs.hpp"

#include <algorithm>
#include <bit>

#include "core/support/error.hpp"

namespace tenon {

IndexExprs::IndexExprs(const Kernel& kernel, const Capabilities& capabilities, KernelOps& ops,
                       const Positions& positions, ProgramParams& params, LetValue let_value)
    : capabilities_(capabilities),
      ops_(ops),
      tree_(ops.tree()),
      index_(ops.index_dtype()),
      positions_(positions),
      params_(params),
      let_value_(std::move(let_value)) {
  for (const Let& let : kernel.lets) lets_[let.symbol] = let.value;
}

IndexExprs::Value IndexExprs::symbol(const Expr& expr) {
  const std::string& name = expr.name();
  if (const int axis = positions_.axis(name); axis >= 0) {
    using Kind = Positions::Position::Kind;
    const Positions::Position& p = positions_.at(axis);
    switch (p.kind) {
      case Kind::kClosed:
        break;
      case Kind::kValue:
        return p.value;
      case Kind::kConstant:
        return ops_.index_constant(p.constant);
      case Kind::kLane:
        return ops_.lane_index(positions_.lanes());
    }
    fail(ErrorKind::kInternal, "[lower] expected axis {} to be open where it is used", name);
  }
  if (const auto let = lets_.find(name); let != lets_.end())
    return ops_.cast(let_value_(let->second), index_);
  return params_.symbol(expr);
}

IndexExprs::Value IndexExprs::sum(const Expr& expr) {
  int64_t total = expr.constant();
  std::vector<Value> parts;
  for (const auto& [coefficient, term] : expr.terms()) {
    const Value v = ops_.multiply(integer(term), ops_.index_constant(coefficient));
    int64_t known = 0;
    if (tree_.at(v).lanes == 1 && ops_.is_constant(v, known))
      total += known;
    else
      parts.push_back(v);
  }
  // Outermost values first, so that partial sums are hoisted out of inner loops.
  std::ranges::stable_sort(parts, [&](Value a, Value b) {
    return std::pair(tree_.at(a).lanes, tree_.depth(a)) <
           std::pair(tree_.at(b).lanes, tree_.depth(b));
  });
  if (parts.empty()) return ops_.index_constant(total);
  Value at = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) at = ops_.add(at, parts[i]);
  return ops_.add(at, ops_.index_constant(total));
}

IndexExprs::Value IndexExprs::quotient(const Expr& expr) {
  const Expr &a = expr.operands()[0], &b = expr.operands()[1];
  const Value x = integer(a), y = integer(b);
  if (b.is_const(1)) return x;
  if (b.is_const() && std::has_single_bit(static_cast<uint64_t>(b.value())) &&
      capabilities_.has(Op::SHR))
    return ops_.op(TN_OP_SHR, index_,
                   {x, ops_.index_constant(std::countr_zero(static_cast<uint64_t>(b.value())))});
  const Value q = ops_.op(TN_OP_IDIV, index_, {x, y});
  if (a.min() >= 0) return q;
  // Truncated to floored: one less for a negative number that does not divide.
  const Value r = ops_.op(TN_OP_MOD, index_, {x, y});
  const Value below = ops_.op(TN_OP_CMPLT, DType::kBool, {r, ops_.index_constant(0)});
  return ops_.add(
      q, ops_.op(TN_OP_WHERE, index_, {below, ops_.index_constant(-1), ops_.index_constant(0)}));
}

IndexExprs::Value IndexExprs::remainder(const Expr& expr) {
  const Expr &a = expr.operands()[0], &b = expr.operands()[1];
  const Value x = integer(a), y = integer(b);
  if (b.is_const() && std::has_single_bit(static_cast<uint64_t>(b.value())))
    return ops_.op(TN_OP_AND, index_, {x, ops_.index_constant(b.value() - 1)});
  const Value r = ops_.op(TN_OP_MOD, index_, {x, y});
  if (a.min() >= 0) return r;
  const Value below = ops_.op(TN_OP_CMPLT, DType::kBool, {r, ops_.index_constant(0)});
  return ops_.add(r, ops_.op(TN_OP_WHERE, index_, {below, y, ops_.index_constant(0)}));
}

IndexExprs::Value IndexExprs::integer(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::kConst:
      return ops_.index_constant(expr.value());
    case ExprKind::kSymbol:
      return symbol(expr);
    case ExprKind::kSum:
      return sum(expr);
    case ExprKind::kDiv:
      return quotient(expr);
    case ExprKind::kMod:
      return remainder(expr);
    case ExprKind::kProduct: {
      std::vector<Value> factors;
      for (const Expr& operand : expr.operands()) factors.push_back(integer(operand));
      std::ranges::stable_sort(factors, [&](Value a, Value b) {
        return std::pair(tree_.at(a).lanes, tree_.depth(a)) <
               std::pair(tree_.at(b).lanes, tree_.depth(b));
      });
      Value product = factors[0];
      for (size_t i = 1; i < factors.size(); ++i) product = ops_.multiply(product, factors[i]);
      return product;
    }
    case ExprKind::kMin:
    case ExprKind::kMax: {
      const bool is_max = expr.kind() == ExprKind::kMax;
      Value at = integer(expr.operands()[0]);
      for (size_t i = 1; i < expr.operands().size(); ++i) {
        const Value next = integer(expr.operands()[i]);
        if (is_max)
          at = ops_.op(TN_OP_MAX, index_, {at, next});
        else if (capabilities_.has(Op::MIN))
          at = ops_.op(TN_OP_MIN, index_, {at, next});
        else
          at = ops_.op(TN_OP_WHERE, index_,
                       {ops_.op(TN_OP_CMPLT, DType::kBool, {at, next}), at, next});
      }
      return at;
    }
    case ExprKind::kLess:
    case ExprKind::kEqual:
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return ops_.cast(condition(expr), index_);
  }
  fail(ErrorKind::kInternal, "[lower] expected an integer expression, got {}", to_string(expr));
}

bool IndexExprs::any_false(std::span<const Expr> conditions) {
  return std::ranges::any_of(conditions, [&](const Expr& expr) {
    int64_t known = 1;
    return ops_.is_constant(condition(expr), known) && !known;
  });
}

IndexExprs::Value IndexExprs::condition(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::kConst:
      return ops_.constant(DType::kBool, expr.value() != 0);
    case ExprKind::kLess: {
      const Value a = integer(expr.operands()[0]), b = integer(expr.operands()[1]);
      int64_t x = 0, y = 0;
      if (tree_.at(a).lanes == 1 && ops_.is_constant(a, x) && ops_.is_constant(b, y))
        return ops_.constant(DType::kBool, x < y);
      return ops_.op(TN_OP_CMPLT, DType::kBool, {a, b});
    }
    case ExprKind::kEqual:
      return ops_.op(TN_OP_XOR, DType::kBool,
                     {ops_.op(TN_OP_CMPNE, DType::kBool,
                              {integer(expr.operands()[0]), integer(expr.operands()[1])}),
                      ops_.constant(DType::kBool, 1)});
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      Value at = condition(expr.operands()[0]);
      for (size_t i = 1; i < expr.operands().size(); ++i) {
        const Value next = condition(expr.operands()[i]);
        at = expr.kind() == ExprKind::kAnd ? ops_.both(at, next)
                                           : ops_.op(TN_OP_OR, DType::kBool, {at, next});
      }
      return at;
    }
    case ExprKind::kSymbol:
      if (const auto let = lets_.find(expr.name());
          let != lets_.end() && let->second->dtype == DType::kBool)
        return let_value_(let->second);
      break;
    case ExprKind::kSum:
    case ExprKind::kProduct:
    case ExprKind::kDiv:
    case ExprKind::kMod:
    case ExprKind::kMin:
    case ExprKind::kMax:
      break;
  }
  return ops_.op(TN_OP_CMPNE, DType::kBool, {integer(expr), ops_.index_constant(0)});
}

}  // namespace tenon
