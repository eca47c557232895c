// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/tree/kernel.hpp"

#include <algorithm>

#include "core/support/error.hpp"

namespace tenon {

std::string_view bind_name(Bind bind) {
  switch (bind) {
    case Bind::kLoop:
      return "";
    case Bind::kUnroll:
      return "unroll";
    case Bind::kVector:
      return "vector";
    case Bind::kDot:
      return "dot";
    case Bind::kMatrix:
      return "matrix";
    case Bind::kGridX:
      return "grid.x";
    case Bind::kGridY:
      return "grid.y";
    case Bind::kGridZ:
      return "grid.z";
    case Bind::kBlockX:
      return "block.x";
    case Bind::kBlockY:
      return "block.y";
    case Bind::kBlockZ:
      return "block.z";
  }
  return "";
}

Expr KernelAxis::symbol() const {
  // A constant, so that indices do not depend on a loop of one iteration.
  return extent.is_const(1) ? Expr(0) : Expr::symbol(name, extent);
}

int Kernel::axis(std::string_view axis_name) const {
  const auto found = std::ranges::find(axes, axis_name, &KernelAxis::name);
  return found == axes.end() ? -1 : static_cast<int>(found - axes.begin());
}

int Kernel::add_axis(std::string axis_name, Expr extent, AxisKind kind) {
  if (axes.size() >= static_cast<size_t>(kMaxAxes))
    fail(ErrorKind::kUnsupported, "[kernel] expected at most {} axes, got more", kMaxAxes);
  axes.push_back({std::move(axis_name), std::move(extent), kind, Bind::kLoop});
  return static_cast<int>(axes.size()) - 1;
}

namespace {

bool find_path(std::vector<Statement>& body, int axis, std::vector<Statement*>& path) {
  for (Statement& s : body) {
    path.push_back(&s);
    if (s.kind == Statement::Kind::kLoop && s.axis == axis) return true;
    if (find_path(s.body, axis, path)) return true;
    path.pop_back();
  }
  return false;
}

}  // namespace

const Statement* running_reduction(const Kernel& kernel, int axis) {
  const Statement* found = nullptr;
  walk(kernel.body, [&](const Statement& s) {
    if (s.kind != Statement::Kind::kReduce || !s.running) return;
    walk(s.body, [&](const Statement& inner) {
      if (inner.kind == Statement::Kind::kLoop && inner.axis == axis) found = &s;
    });
  });
  return found;
}

std::vector<std::span<const Statement>> sections_of(const Kernel& kernel) {
  const std::span<const Statement> body(kernel.body);
  if (kernel.sections.empty()) return {body};
  std::vector<std::span<const Statement>> out;
  size_t first = 0;
  for (const int count : kernel.sections) {
    out.push_back(body.subspan(first, static_cast<size_t>(count)));
    first += static_cast<size_t>(count);
  }
  return out;
}

std::vector<Statement*> path_to(Kernel& kernel, int axis) {
  std::vector<Statement*> path;
  find_path(kernel.body, axis, path);
  return path;
}

void walk(std::vector<Statement>& body, const std::function<void(Statement&)>& use) {
  for (Statement& s : body) {
    use(s);
    walk(s.body, use);
  }
}

void walk(const std::vector<Statement>& body, const std::function<void(const Statement&)>& use) {
  for (const Statement& s : body) {
    use(s);
    walk(s.body, use);
  }
}

bool reads_any(const Statement& s, const std::set<int>& buffers) {
  bool found = false;
  const auto look = [&](const Statement& inner) {
    const auto check = [&](const KValueRef& v) {
      found |= v->kind == KValueKind::kLoad && buffers.contains(v->buffer);
    };
    if (inner.value) visit(inner.value, check);
    for (const ReduceState& state : inner.states) visit(state.value, check);
  };
  look(s);
  walk(s.body, look);
  return found;
}

int64_t ahead_in(const Statement& loop) {
  for (const Statement& s : loop.body)
    if (s.ahead) return s.ahead;
  return 0;
}

void rewrite_values(Kernel& kernel, const std::function<KValueRef(const KValueRef&)>& change) {
  KValueRewriter rewrite(change);
  for (Let& let : kernel.lets) let.value = rewrite(let.value);
  walk(kernel.body, [&](Statement& s) {
    if (s.value) s.value = rewrite(s.value);
    for (ReduceState& state : s.states) state.value = rewrite(state.value);
  });
}

void substitute(Kernel& kernel, const std::map<std::string, Expr>& values) {
  for (Guard& guard : kernel.guards) {
    guard.lower = guard.lower.substitute(values);
    guard.upper = guard.upper.substitute(values);
  }
  walk(kernel.body, [&](Statement& s) {
    s.index = s.index.substitute(values);
    s.mask = s.mask.substitute(values);
    // Clamped: out-of-range points of a split or pad would move the range out of the extent.
    if (s.range)
      s.range = LoopRange{max(s.range->begin.substitute(values), 0),
                          min(s.range->end.substitute(values), kernel.axes[s.axis].extent)};
  });
  rewrite_values(kernel, [&](const KValueRef& v) -> KValueRef {
    if (v->kind != KValueKind::kIndex && v->kind != KValueKind::kLoad) return v;
    Expr index = v->index.substitute(values), mask = v->mask.substitute(values);
    if (index == v->index && mask == v->mask) return v;
    if (v->kind == KValueKind::kIndex) return make_index(std::move(index), v->dtype);
    return make_load(v->buffer, v->dtype, std::move(index), std::move(mask), v->constant);
  });
}

Dependence::Dependence(const Kernel& kernel) : kernel_(kernel), reductions_(kernel.reductions) {
  for (size_t i = 0; i < kernel.axes.size(); ++i) axes_[kernel.axes[i].name] = static_cast<int>(i);
  for (size_t i = 0; i < kernel.lets.size(); ++i)
    lets_[kernel.lets[i].symbol] = static_cast<int>(i);
  walk(kernel.body, [&](const Statement& s) {
    if (s.kind != Statement::Kind::kReduce) return;
    Reduction& r = reductions_[s.id];
    r.statement = &s;
    walk(s.body, [&](const Statement& inner) {
      if (inner.kind == Statement::Kind::kLoop) r.own.set(inner.axis);
    });
  });
}

void Dependence::collect(const Expr& expr, AxisSet& out) {
  std::map<std::string, Expr> symbols;
  expr.collect_symbols(symbols);
  for (const auto& [name, symbol] : symbols) {
    if (const auto axis = axes_.find(name); axis != axes_.end()) out.set(axis->second);
    if (const auto let = lets_.find(name); let != lets_.end())
      out |= of(kernel_.lets[let->second].value);
  }
}

const AxisSet& Dependence::of(const Expr& expr) {
  if (const auto found = exprs_.find(expr.node()); found != exprs_.end()) return found->second;
  AxisSet set;
  collect(expr, set);
  keep_.push_back(expr);
  return exprs_[expr.node()] = set;
}

const AxisSet& Dependence::of(const KValueRef& value) {
  if (const auto found = values_.find(value.get()); found != values_.end()) return found->second;
  AxisSet set;
  switch (value->kind) {
    case KValueKind::kConst:
      break;
    case KValueKind::kIndex:
      set = of(value->index);
      break;
    case KValueKind::kLoad:
      set = of(value->index) | of(value->mask);
      break;
    case KValueKind::kOp:
      for (const KValueRef& operand : value->operands) set |= of(operand);
      break;
    case KValueKind::kResult:
      set = of_reduction(value->reduction);
      break;
  }
  keep_values_.push_back(value);
  return values_[value.get()] = set;
}

const AxisSet& Dependence::of_reduction(int id) {
  Reduction& r = reductions_[id];
  if (!r.known && r.statement) {
    AxisSet set;
    for (const ReduceState& state : r.statement->states) set |= of(state.value);
    r.outside = r.statement->running ? set | r.own : set & ~r.own;
    r.known = true;
  }
  return r.outside;
}

}  // namespace tenon
