// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/transforms/running_maximum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tenon {
namespace {

/// Collects the loops down to the step; false if they hold other statements than reductions.
bool loops_of(const Statement& s, std::vector<int>& axes) {
  for (const Statement& inner : s.body) {
    if (inner.kind == Statement::Kind::kLoop) {
      axes.push_back(inner.axis);
      if (!loops_of(inner, axes)) return false;
    } else if (inner.kind != Statement::Kind::kStep && inner.kind != Statement::Kind::kReduce) {
      return false;
    }
  }
  return true;
}

/// Equality of values after renaming axes, through nested reductions. A pair of values and a pair
/// of reductions are compared once: an axis keeps its new name.
class SameValue {
 public:
  using Reductions = std::vector<const Statement*>;
  SameValue(const Kernel& kernel, const Reductions& reductions)
      : kernel_(kernel), reductions_(reductions) {}

  /// Renames axis `there` to `here`; false if it has another name already.
  bool rename(int there, int here) {
    const KernelAxis &a = kernel_.axes[there], &b = kernel_.axes[here];
    if (!(a.extent == b.extent) || a.bind != b.bind) return false;
    return rename_.try_emplace(a.name, b.symbol()).first->second == b.symbol();
  }

  bool operator()(const KValueRef& a, const KValueRef& b) {
    if (same_.contains({a.get(), b.get()})) return true;
    if (!compare(a, b)) return false;  // and so is every value above
    same_.insert({a.get(), b.get()});
    return true;
  }

 private:
  bool compare(const KValueRef& a, const KValueRef& b) {
    if (a->kind != b->kind || a->dtype != b->dtype || a->op != b->op || a->bits != b->bits ||
        a->approximate != b->approximate || a->buffer != b->buffer || a->state != b->state ||
        a->operands.size() != b->operands.size() || !(a->constant == b->constant))
      return false;
    if (a->kind == KValueKind::kResult) return same_reduction(a->reduction, b->reduction);
    if (!(a->index == b->index.substitute(rename_)) || !(a->mask == b->mask.substitute(rename_)))
      return false;
    for (size_t i = 0; i < a->operands.size(); ++i)
      if (!(*this)(a->operands[i], b->operands[i])) return false;
    return true;
  }

  bool same_reduction(int here, int there) {
    if (here == there || !reductions_seen_.insert({here, there}).second) return true;
    const Statement &a = *reductions_[static_cast<size_t>(here)],
                    &b = *reductions_[static_cast<size_t>(there)];
    std::vector<int> own, others;
    if (!loops_of(a, own) || !loops_of(b, others) || own.size() != others.size() ||
        a.states.size() != b.states.size())
      return false;
    for (size_t i = 0; i < own.size(); ++i)
      if (!rename(others[i], own[i])) return false;
    for (size_t i = 0; i < a.states.size(); ++i) {
      const ReduceState &x = a.states[i], &y = b.states[i];
      if (x.op != y.op || x.dtype != y.dtype || x.precision != y.precision ||
          !(*this)(x.value, y.value))
        return false;
    }
    return true;
  }

  const Kernel& kernel_;
  const Reductions& reductions_;
  std::map<std::string, Expr> rename_;
  std::set<std::pair<const KValue*, const KValue*>> same_;
  std::set<std::pair<int, int>> reductions_seen_;
};

/// condition ? value : constant, or with the branches swapped if negated.
struct Select {
  KValueRef condition, value;
  bool negated = false;
  Scalar constant;
};

std::optional<Select> select_of(const KValueRef& v) {
  if (!is_op(v, Op::WHERE)) return std::nullopt;
  const auto &x = v->operands[1], &y = v->operands[2];
  if (y->kind == KValueKind::kConst) return Select{v->operands[0], x, false, y->constant};
  if (x->kind == KValueKind::kConst) return Select{v->operands[0], y, true, x->constant};
  return std::nullopt;
}

}  // namespace

KValueRef strip_widening(const KValueRef& v) {
  if (!is_op(v, Op::CAST) || v->bits) return nullptr;
  const KValueRef& x = v->operands[0];
  const bool wider = is_float(v->dtype) && is_float(x->dtype) && !x->bits &&
                     dtype_bits(x->dtype) < dtype_bits(v->dtype);
  return wider ? x : nullptr;
}

KValueRef Power::of(KValueRef x, KValueRef maximum) const {
  const DType dtype = x->dtype;
  KValueRef exponent = make_op(Op::SUB, dtype, {std::move(x), std::move(maximum)});
  if (scale) exponent = make_op(Op::MUL, dtype, {std::move(exponent), make_const(*scale)});
  return make_op(op, dtype, {std::move(exponent)});
}

RunningMaximum::RunningMaximum(const Kernel& kernel, const Statement& maximum)
    : kernel_(kernel),
      maximum_(maximum),
      axis_(maximum.body[0].axis),
      reductions_(static_cast<size_t>(kernel.reductions)),
      dependence_(kernel) {
  walk(kernel.body, [&](const Statement& s) {
    if (s.kind == Statement::Kind::kReduce) reductions_[static_cast<size_t>(s.id)] = &s;
  });
  const KValueRef& term = maximum.states[0].value;
  if (const auto select = select_of(term))
    masked_ = Masked{select->condition, select->negated, select->constant};
}

class RunningMaximum::TermMatcher {
 public:
  TermMatcher(RunningMaximum& of, int axis, const AxisSet& own, std::optional<Power>& power,
              const KValueRef& element, const std::function<KValueRef(const Power&)>& powered)
      : of_(of), axis_(axis), own_(own), power_(power), element_(element), powered_(powered) {}

  std::optional<RunningTerm> run(const KValueRef& term) {
    if (!split(term)) return std::nullopt;
    out_.is_power = out_.weight == powered_value_;
    out_.weight = elements(out_.weight);
    if (!is_available(out_.weight)) return std::nullopt;
    for (KValueRef& other : out_.others)
      if (!is_available(other)) return std::nullopt;
    return std::move(out_);
  }

 private:
  bool depends_on_axis(const KValueRef& v) { return of_.dependence_.of(v)[axis_]; }
  bool depends_on_own(const KValueRef& v) { return (of_.dependence_.of(v) & own_).any(); }

  bool same(const KValueRef& here, const KValueRef& there) {
    SameValue same(of_.kernel_, of_.reductions_);
    return same.rename(axis_, of_.axis_) && same(here, there);
  }
  bool is_maximum(const KValueRef& v) const {
    return v->kind == KValueKind::kResult && v->reduction == of_.maximum_.id;
  }

  std::optional<Power> power_of(const KValueRef& v) {
    if (!is_op(v, Op::EXP) && !is_op(v, Op::EXP2)) return std::nullopt;
    Power power{v->op, {}};
    KValueRef exponent = v->operands[0];
    if (is_op(exponent, Op::MUL))
      for (const size_t i : {0, 1})
        if (const KValueRef& factor = exponent->operands[i]; factor->kind == KValueKind::kConst) {
          power.scale = factor->constant;
          exponent = exponent->operands[1 - i];
          break;
        }
    // A positive scale, so that no power exceeds one.
    const double scale = power.scale ? power.scale->as_double() : 1;
    if (!(scale > 0) || std::isinf(scale) || !is_op(exponent, Op::SUB) ||
        !is_maximum(exponent->operands[1]) ||
        !same(of_.maximum_.states[0].value, exponent->operands[0]))
      return std::nullopt;
    return power;
  }

  bool has_power(const KValueRef& v) {
    bool found = false;
    visit(v, [&](const KValueRef& x) { found = found || is_maximum(x); });
    return found && depends_on_axis(v);
  }

  bool split(const KValueRef& v) {
    if (const auto power = power_of(v)) {
      if (power_ && !(*power_ == *power)) return false;
      power_ = power;
      out_.weight = powered_value_ = powered_(*power);
      return true;
    }
    if (is_op(v, Op::MUL) || is_op(v, Op::FDIV)) {
      const bool left = has_power(v->operands[0]), right = has_power(v->operands[1]);
      if (left == right || (right && v->op == Op::FDIV)) return false;
      return split(v->operands[left ? 0 : 1]) && factor(v->op, v->operands[left ? 1 : 0]);
    }
    if (const auto select = select_of(v)) return split(select->value) && mask_term(*select);
    if (const KValueRef narrow = strip_widening(v)) return round(v, narrow);
    return false;
  }

  bool factor(Op op, const KValueRef& x) {
    if (!depends_on_axis(x)) {
      out_.outer.emplace_back(op, x);
      return true;
    }
    if (depends_on_own(x)) {
      out_.others.push_back(x);
      return op == Op::MUL;
    }
    out_.weight = make_op(op, x->dtype, {out_.weight, x});
    return true;
  }

  /// A term rounded to a narrower float and widened. `outer` is then applied after the rounding.
  bool round(const KValueRef& v, const KValueRef& narrow) {
    if (!is_op(narrow, Op::CAST) || narrow->operands[0]->dtype != v->dtype ||
        !split(narrow->operands[0]) || !out_.others.empty())
      return false;
    out_.weight = make_cast(make_cast(out_.weight, narrow->dtype), v->dtype);
    return true;
  }

  /// Accepts a term that is 0 where masked if the maximum has the same mask with a finite constant.
  /// Otherwise a masked infinity, or a row of -inf, would turn the rescaled sum into NaN.
  bool mask_term(const Select& select) {
    const std::optional<Masked>& masked = of_.masked_;
    if (select.constant.as_double() != 0 || !out_.others.empty() || !masked ||
        masked->negated != select.negated || !std::isfinite(masked->constant.as_double()) ||
        !same(masked->condition, select.condition))
      return false;
    KValueRef nothing = make_const(select.constant), condition = select.condition;
    out_.weight = select.negated
                      ? make_op(Op::WHERE, out_.weight->dtype, {condition, nothing, out_.weight})
                      : make_op(Op::WHERE, out_.weight->dtype, {condition, out_.weight, nothing});
    return out_.is_masked = true;
  }

  /// Replaces terms of the maximum outside the power by `element`.
  KValueRef elements(const KValueRef& v) {
    if (v == powered_value_) return v;
    if (const auto known = elements_.find(v.get()); known != elements_.end()) return known->second;
    KValueRef out = v;
    if (v->dtype == element_->dtype && depends_on_axis(v) &&
        same(of_.maximum_.states[0].value, v)) {
      out = element_;
    } else if (!v->operands.empty()) {
      KValue copy = *v;
      for (KValueRef& operand : copy.operands) operand = elements(operand);
      out = std::make_shared<const KValue>(std::move(copy));
    }
    elements_.emplace(v.get(), out);
    return out;
  }

  /// False if the value needs a result that depends on the final maximum, or a reduction inside the
  /// sum's loop.
  bool is_available(const KValueRef& v) {
    bool free = true;
    visit(v, [&](const KValueRef& x) {
      free = free && (x->kind != KValueKind::kResult || !depends_on_maximum(x->reduction));
    });
    return free && !uses_inside(v);
  }

  bool depends_on_maximum(int id) {
    if (id == of_.maximum_.id) return true;
    const auto [known, is_new] = depend_on_maximum_.try_emplace(id, false);
    if (!is_new) return known->second;
    bool found = false;
    for (const ReduceState& state : of_.reductions_[static_cast<size_t>(id)]->states)
      visit(state.value, [&](const KValueRef& x) {
        found = found || (x->kind == KValueKind::kResult && depends_on_maximum(x->reduction));
      });
    depend_on_maximum_[id] = found;
    return found;
  }

  bool uses_inside(const KValueRef& v) {
    bool inside = false;
    visit(v, [&](const KValueRef& x) {
      inside = inside || (x->kind == KValueKind::kResult &&
                          of_.dependence_.of_reduction(x->reduction)[axis_]);
    });
    return inside;
  }

  RunningMaximum& of_;
  int axis_;
  const AxisSet& own_;
  std::optional<Power>& power_;
  const KValueRef& element_;
  const std::function<KValueRef(const Power&)>& powered_;
  KValueRef powered_value_;
  RunningTerm out_;
  std::unordered_map<const KValue*, KValueRef> elements_;
  std::unordered_map<int, bool> depend_on_maximum_;
};

std::optional<RunningTerm> RunningMaximum::match(
    const KValueRef& term, int axis, const AxisSet& own, std::optional<Power>& power,
    const KValueRef& element, const std::function<KValueRef(const Power&)>& powered) {
  return TermMatcher(*this, axis, own, power, element, powered).run(term);
}

void approximate_powers(const Kernel& kernel, int bases, std::vector<Statement>& statements) {
  const auto is_narrow = [](DType dtype) { return is_float(dtype) && dtype_bits(dtype) <= 16; };
  bool is_stored = false;
  bool is_rounded = std::ranges::all_of(
      kernel.buffers, [&](const KernelBuffer& b) { return b.output < 0 || is_narrow(b.dtype); });
  walk(statements, [&](const Statement& s) {
    if (s.kind != Statement::Kind::kStore) return;
    is_stored = true;
    is_rounded &= is_op(s.value, Op::CAST) && is_narrow(s.value->dtype) &&
                  s.value->operands[0]->dtype == DType::kF32;
  });
  if (!is_stored || !is_rounded) return;
  // Only powers of (x - base), not other exponentials in the terms.
  const auto is_power = [&](const KValueRef& v) {
    if (!is_op(v, Op::EXP) && !is_op(v, Op::EXP2)) return false;
    const KValueRef& x = v->operands[0];
    const KValueRef& difference = is_op(x, Op::MUL) ? x->operands[0] : x;
    if (!is_op(difference, Op::SUB)) return false;
    const KValue& base = *difference->operands[1];
    return base.kind == KValueKind::kLoad && base.buffer == bases;
  };
  KValueRewriter rewrite([&](const KValueRef& v) {
    if (!is_power(v)) return v;
    KValue fast = *v;
    fast.approximate = true;
    return std::make_shared<const KValue>(std::move(fast));
  });
  walk(statements, [&](Statement& s) {
    if (s.value) s.value = rewrite(s.value);
    for (ReduceState& state : s.states) state.value = rewrite(state.value);
  });
}

KValueRef clamp_above_infinity(const KValueRef& maximum) {
  const double least = maximum->dtype == DType::kF64 ? std::numeric_limits<double>::lowest()
                                                     : std::numeric_limits<float>::lowest();
  return make_op(Op::MAX, maximum->dtype, {maximum, make_const(Scalar::of(maximum->dtype, least))});
}

}  // namespace tenon
