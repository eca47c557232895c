// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/transforms/masked_blocks.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>

namespace tenon {
namespace {

Expr negated(const Expr& e) {
  const auto all = [&](Expr (*join)(const Expr&, const Expr&)) {
    Expr out = negated(e.operands()[0]);
    for (size_t i = 1; i < e.operands().size(); ++i) out = join(out, negated(e.operands()[i]));
    return out;
  };
  switch (e.kind()) {
    case ExprKind::kLess:
      return less(e.operands()[1], e.operands()[0] + 1);
    case ExprKind::kAnd:
      return all(logical_or);
    case ExprKind::kOr:
      return all(logical_and);
    default:
      return equal(e, 0);
  }
}

/// a or b, with x < y or x == y simplified to x < y + 1.
Expr either(const Expr& a, const Expr& b) {
  if (a.kind() == ExprKind::kEqual && b.kind() == ExprKind::kLess) return either(b, a);
  if (a.kind() == ExprKind::kLess && b.kind() == ExprKind::kEqual) {
    const Expr room = a.operands()[1] - a.operands()[0], gap = b.operands()[1] - b.operands()[0];
    if (room == gap || room == -gap) return less(a.operands()[0], a.operands()[1] + 1);
  }
  return logical_or(a, b);
}

/// Values as index expressions, each found once.
class IndexForms {
 public:
  std::optional<Expr> condition(const KValueRef& v) {
    if (const auto known = conditions_.find(v.get()); known != conditions_.end())
      return known->second;
    return conditions_[v.get()] = find_condition(v);
  }

  /// The value with each condition, the largest first, as one index expression.
  KValueRef replaced(const KValueRef& v) {
    if (v->kind != KValueKind::kOp) return v;
    if (const auto known = replaced_.find(v.get()); known != replaced_.end()) return known->second;
    KValueRef out = v;
    if (const auto found = condition(v)) {
      out = make_index(*found, DType::kBool);
    } else {
      KValue copy = *v;
      bool changed = false;
      for (KValueRef& operand : copy.operands) {
        KValueRef next = replaced(operand);
        changed |= next != operand;
        operand = std::move(next);
      }
      if (changed) out = std::make_shared<const KValue>(std::move(copy));
    }
    return replaced_[v.get()] = out;
  }

 private:
  using Forms = std::unordered_map<const KValue*, std::optional<Expr>>;

  /// An integer value as an index expression, if it does not wrap.
  std::optional<Expr> position(const KValueRef& v) {
    if (const auto known = positions_.find(v.get()); known != positions_.end())
      return known->second;
    return positions_[v.get()] = find_position(v);
  }

  std::optional<Expr> find_position(const KValueRef& v) {
    if (!is_int(v->dtype)) return std::nullopt;
    if (v->kind == KValueKind::kConst) return Expr(v->constant.as_int());
    if (v->kind == KValueKind::kIndex && holds(v->dtype, v->index)) return v->index;
    if (v->kind != KValueKind::kOp || v->bits) return std::nullopt;
    std::vector<Expr> operands;
    for (const KValueRef& operand : v->operands) {
      const auto found = position(operand);
      if (!found) return std::nullopt;
      operands.push_back(*found);
    }
    std::optional<Expr> out;
    if (v->op == Op::ADD) out = operands[0] + operands[1];
    if (v->op == Op::SUB) out = operands[0] - operands[1];
    if (v->op == Op::NEG) out = -operands[0];
    if (v->op == Op::CAST) out = operands[0];
    if (v->op == Op::MUL && (operands[0].is_const() || operands[1].is_const()))
      out = operands[0] * operands[1];
    if (out && !holds(v->dtype, *out)) out.reset();
    return out;
  }

  std::optional<Expr> find_condition(const KValueRef& v) {
    if (v->dtype != DType::kBool) return std::nullopt;
    if (v->kind == KValueKind::kConst) return Expr(v->constant.bits != 0 ? 1 : 0);
    if (v->kind == KValueKind::kIndex) return v->index;
    if (v->kind != KValueKind::kOp || v->operands.size() != 2) return std::nullopt;
    const bool compares = v->op == Op::CMPLT || v->op == Op::CMPEQ || v->op == Op::CMPNE;
    const auto of = [&](size_t i) {
      return compares ? position(v->operands[i]) : condition(v->operands[i]);
    };
    const std::optional<Expr> x = of(0), y = of(1);
    if (!x || !y) return std::nullopt;
    switch (v->op) {
      case Op::CMPLT:
        return less(*x, *y);
      case Op::CMPEQ:
        return equal(*x, *y);
      case Op::CMPNE:
        return either(less(*x, *y), less(*y, *x));
      case Op::AND:
        return logical_and(*x, *y);
      case Op::OR:
        return either(*x, *y);
      case Op::XOR:
        if (x->is_const(1)) return negated(*y);
        if (y->is_const(1)) return negated(*x);
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  Forms conditions_, positions_;
  std::unordered_map<const KValue*, KValueRef> replaced_;
};

/// Maximum of the expression over a tile; nothing if it is not linear in the tile's axes.
std::optional<Expr> most_over(const Kernel& kernel, Expr e, const std::vector<int>& tile) {
  for (const int a : tile) {
    const KernelAxis& axis = kernel.axes[a];
    if (!e.depends_on(axis.name)) continue;
    int64_t coefficient = 0;
    Expr rest;
    if (!e.linear_in(axis.name, coefficient, rest)) return std::nullopt;
    e = coefficient > 0 ? rest + (axis.extent - 1) * coefficient : rest;
  }
  return e;
}

/// True if the expression depends only on symbols and the loops around.
bool is_loop_invariant(const Kernel& kernel, const Expr& e, const std::vector<Statement*>& around) {
  std::map<std::string, Expr> symbols;
  e.collect_symbols(symbols);
  return std::ranges::all_of(symbols, [&](const auto& symbol) {
    const auto is_symbol = [&](const Expr& s) { return s.name() == symbol.first; };
    const auto is_loop = [&](const Statement* s) {
      return s->kind == Statement::Kind::kLoop && kernel.axes[s->axis].name == symbol.first;
    };
    return std::ranges::any_of(kernel.symbols, is_symbol) || std::ranges::any_of(around, is_loop);
  });
}

/// Elements [begin, end) of the axis: outside, the condition is false for the whole tile.
struct ElementRange {
  Expr begin, end;
};

class UnmaskedBounds {
 public:
  UnmaskedBounds(const Kernel& kernel, int row, const std::vector<int>& tile,
                 const std::vector<Statement*>& around)
      : kernel_(kernel), axis_(kernel.axes[row]), tile_(tile), around_(around) {}

  ElementRange of(const Expr& e) const {
    switch (e.kind()) {
      case ExprKind::kLess:
        return of_room(e.operands()[1] - e.operands()[0]);
      case ExprKind::kEqual: {
        const Expr gap = e.operands()[1] - e.operands()[0];
        return both(of_room(gap + 1), of_room(1 - gap));
      }
      case ExprKind::kAnd:
      case ExprKind::kOr: {
        ElementRange out = of(e.operands()[0]);
        for (const Expr& operand : std::span(e.operands()).subspan(1)) {
          const ElementRange more = of(operand);
          out = e.kind() == ExprKind::kAnd
                    ? both(out, more)
                    : ElementRange{min(out.begin, more.begin), max(out.end, more.end)};
        }
        return out;
      }
      default:
        return {0, axis_.extent};
    }
  }

 private:
  static ElementRange both(const ElementRange& a, const ElementRange& b) {
    return {max(a.begin, b.begin), min(a.end, b.end)};
  }

  /// The range for the condition difference > 0.
  ElementRange of_room(const Expr& room) const {
    ElementRange out{0, axis_.extent};
    int64_t step = 0;
    Expr rest;
    if (!room.depends_on(axis_.name) || !room.linear_in(axis_.name, step, rest)) return out;
    const std::optional<Expr> most = most_over(kernel_, rest, tile_);
    if (!most || !is_loop_invariant(kernel_, *most, around_)) return out;
    if (step < 0)
      out.end = min(out.end, max(0, ceil_div(*most, -step)));
    else
      out.begin = max(0, floor_div(-*most, step) + 1);
    return out;
  }

  const Kernel& kernel_;
  const KernelAxis& axis_;
  const std::vector<int>& tile_;
  const std::vector<Statement*>& around_;
};

}  // namespace

std::optional<Expr> condition_of(const KValueRef& value) { return IndexForms().condition(value); }

KValueRef with_positions(const KValueRef& value) { return IndexForms().replaced(value); }

std::optional<UnmaskedBlocks> unmasked_blocks(const Kernel& kernel, const Masked& masked, int row,
                                              int64_t block, const std::vector<int>& tile,
                                              const std::vector<Statement*>& around) {
  const std::optional<Expr> condition = condition_of(masked.condition);
  if (!condition) return std::nullopt;
  const Expr extent = kernel.axes[row].extent, blocks = ceil_div(extent, block);
  const ElementRange unmasked = UnmaskedBounds(kernel, row, tile, around)
                                    .of(masked.negated ? negated(*condition) : *condition);
  UnmaskedBlocks out{floor_div(unmasked.begin, block), ceil_div(unmasked.end, block), 0};
  if (out.begin.is_const(0) && out.end == blocks) return std::nullopt;
  const Expr count = min(out.end * block, extent) - min(out.begin * block, extent);
  out.masked = extent - max(0, count);
  return out;
}

}  // namespace tenon
