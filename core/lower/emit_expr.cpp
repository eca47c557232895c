// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index arithmetic and conditions: Expr to ops.
#include <algorithm>
#include <bit>

#include "core/lower/emitter.hpp"
#include "core/support/error.hpp"

namespace tenon {
Emitter::Value Emitter::symbol(const Expr& expr) {
  const std::string& name = expr.name();
  if (const auto axis = axis_of_.find(name); axis != axis_of_.end()) {
    const Position& p = positions_[axis->second];
    switch (p.kind) {
      case Position::Kind::kClosed:
        break;
      case Position::Kind::kValue:
        return p.value;
      case Position::Kind::kConstant:
        return index_constant(p.constant);
      case Position::Kind::kLane:
        return lane_index();
    }
    fail(ErrorKind::kInternal, "[lower] expected axis {} to be open where it is used", name);
  }
  if (const auto let = lets_.find(name); let != lets_.end())
    return cast(value(let->second), index_);
  if (const auto known = symbols_.find(name); known != symbols_.end()) return known->second;
  const bool declared =
      std::ranges::any_of(kernel_.symbols, [&](const Expr& s) { return s.name() == name; });
  if (!declared)
    fail(ErrorKind::kInternal, "[lower] expected a symbol of kernel {}, got {}", kernel_.name,
         name);
  const Value v = tree_.param(static_cast<tn_dtype>(index_), params_.size());
  Param p;
  p.kind = Param::Kind::kScalar;
  p.symbol = expr;
  p.dtype = index_;
  params_.push_back(p);
  return symbols_[name] = v;
}

Emitter::Value Emitter::sum(const Expr& expr) {
  int64_t total = expr.constant();
  std::vector<Value> parts;
  for (const auto& [coefficient, term] : expr.terms()) {
    const Value v = multiply(integer(term), index_constant(coefficient));
    int64_t known = 0;
    if (tree_.at(v).lanes == 1 && is_constant(v, known))
      total += known;
    else
      parts.push_back(v);
  }
  // What changes least comes first, so that partial sums leave the inner loops.
  std::ranges::stable_sort(parts, [&](Value a, Value b) {
    return std::pair(tree_.at(a).lanes, tree_.depth(a)) <
           std::pair(tree_.at(b).lanes, tree_.depth(b));
  });
  if (parts.empty()) return index_constant(total);
  Value at = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) at = add(at, parts[i]);
  return add(at, index_constant(total));
}

Emitter::Value Emitter::quotient(const Expr& expr) {
  const Expr &a = expr.operands()[0], &b = expr.operands()[1];
  const Value x = integer(a), y = integer(b);
  if (b.is_const(1)) return x;
  if (b.is_const() && std::has_single_bit(static_cast<uint64_t>(b.value())) &&
      capabilities_.has(Op::SHR))
    return op(TN_OP_SHR, index_,
              {x, index_constant(std::countr_zero(static_cast<uint64_t>(b.value())))});
  const Value q = op(TN_OP_IDIV, index_, {x, y});
  if (a.min() >= 0) return q;
  // Truncated to floored: one less where a negative number does not divide.
  const Value r = op(TN_OP_MOD, index_, {x, y});
  const Value below = op(TN_OP_CMPLT, DType::kBool, {r, index_constant(0)});
  return add(q, op(TN_OP_WHERE, index_, {below, index_constant(-1), index_constant(0)}));
}

Emitter::Value Emitter::remainder(const Expr& expr) {
  const Expr &a = expr.operands()[0], &b = expr.operands()[1];
  const Value x = integer(a), y = integer(b);
  if (b.is_const() && std::has_single_bit(static_cast<uint64_t>(b.value())))
    return op(TN_OP_AND, index_, {x, index_constant(b.value() - 1)});
  const Value r = op(TN_OP_MOD, index_, {x, y});
  if (a.min() >= 0) return r;
  const Value below = op(TN_OP_CMPLT, DType::kBool, {r, index_constant(0)});
  return add(r, op(TN_OP_WHERE, index_, {below, y, index_constant(0)}));
}

Emitter::Value Emitter::integer(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::kConst:
      return index_constant(expr.value());
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
      for (size_t i = 1; i < factors.size(); ++i) product = multiply(product, factors[i]);
      return product;
    }
    case ExprKind::kMin:
    case ExprKind::kMax: {
      const bool is_max = expr.kind() == ExprKind::kMax;
      Value at = integer(expr.operands()[0]);
      for (size_t i = 1; i < expr.operands().size(); ++i) {
        const Value next = integer(expr.operands()[i]);
        if (is_max)
          at = op(TN_OP_MAX, index_, {at, next});
        else if (capabilities_.has(Op::MIN))
          at = op(TN_OP_MIN, index_, {at, next});
        else
          at = op(TN_OP_WHERE, index_, {op(TN_OP_CMPLT, DType::kBool, {at, next}), at, next});
      }
      return at;
    }
    case ExprKind::kLess:
    case ExprKind::kEqual:
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return cast(condition(expr), index_);
  }
  fail(ErrorKind::kInternal, "[lower] expected an integer expression, got {}", to_string(expr));
}

Emitter::Value Emitter::condition(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::kConst:
      return constant(DType::kBool, expr.value() != 0);
    case ExprKind::kLess:
      return op(TN_OP_CMPLT, DType::kBool,
                {integer(expr.operands()[0]), integer(expr.operands()[1])});
    case ExprKind::kEqual:
      return op(TN_OP_XOR, DType::kBool,
                {op(TN_OP_CMPNE, DType::kBool,
                    {integer(expr.operands()[0]), integer(expr.operands()[1])}),
                 constant(DType::kBool, 1)});
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      Value at = condition(expr.operands()[0]);
      for (size_t i = 1; i < expr.operands().size(); ++i) {
        const Value next = condition(expr.operands()[i]);
        at =
            expr.kind() == ExprKind::kAnd ? both(at, next) : op(TN_OP_OR, DType::kBool, {at, next});
      }
      return at;
    }
    case ExprKind::kSymbol:
      if (const auto let = lets_.find(expr.name());
          let != lets_.end() && let->second->dtype == DType::kBool)
        return value(let->second);
      break;
    case ExprKind::kSum:
    case ExprKind::kProduct:
    case ExprKind::kDiv:
    case ExprKind::kMod:
    case ExprKind::kMin:
    case ExprKind::kMax:
      break;
  }
  return op(TN_OP_CMPNE, DType::kBool, {integer(expr), index_constant(0)});
}

}  // namespace tenon
