// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/guards.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace tenon {
namespace {

/// True if the expression is not monotonic: it may decrease when the symbol increases.
bool is_not_monotonic(const Expr& e, std::string_view symbol) {
  if (e.kind() == ExprKind::kMod && e.depends_on(symbol)) return true;
  if (e.kind() == ExprKind::kSum)
    return std::ranges::any_of(e.terms(), [&](const auto& term) {
      return is_not_monotonic(term.second, symbol) ||
             (term.first < 0 && term.second.depends_on(symbol));
    });
  if (e.kind() == ExprKind::kConst || e.kind() == ExprKind::kSymbol) return false;
  return std::ranges::any_of(
      e.operands(), [&](const Expr& operand) { return is_not_monotonic(operand, symbol); });
}

}  // namespace

Guards::Guards(const Kernel& kernel, Positions& positions)
    : kernel_(kernel), positions_(positions), off_(kernel.guards.size(), false) {
  for (const Guard& g : kernel.guards)
    axes_.push_back(positions.axes_of(g.lower) | positions.axes_of(g.upper));
  for (size_t a = 0; a < kernel.axes.size(); ++a)
    summed_.set(a, kernel.axes[a].kind == AxisKind::kReduce);
}

Expr Guards::condition(const Guard& guard, bool uniform) const {
  // A closed axis is put where `lower` is smallest: at 0, or at its end if `lower` decreases with
  // it. A remainder, as of fused padded loops, is not monotonic: then some points may be in range.
  using Kind = Positions::Position::Kind;
  std::map<std::string, Expr> least;
  std::map<std::string, Expr> symbols;
  guard.lower.collect_symbols(symbols);
  guard.upper.collect_symbols(symbols);
  for (const auto& [name, symbol] : symbols) {
    const int axis = positions_.axis(name);
    if (axis < 0) continue;
    const Kind kind = positions_.at(axis).kind;
    if (kind != Kind::kClosed && !(uniform && kind == Kind::kLane)) continue;
    int64_t coefficient = 0;
    Expr rest;
    const bool falls = guard.lower.linear_in(name, coefficient, rest) && coefficient < 0;
    if (!falls && is_not_monotonic(guard.lower, name)) return 1;
    least.emplace(name, falls ? kernel_.axes[axis].extent - 1 : Expr(0));
  }
  if (least.empty()) return guard.condition();
  return less(guard.lower.substitute(least), guard.upper.substitute(least));
}

std::vector<Expr> Guards::conditions(const AxisSet& concerned, bool uniform) const {
  std::vector<Expr> out;
  for (size_t g = 0; g < kernel_.guards.size(); ++g)
    if (!off_[g] && (axes_[g] & concerned).any())
      out.push_back(condition(kernel_.guards[g], uniform));
  return out;
}

bool Guards::ask(const AxisSet& concerned, int axis) const {
  for (size_t g = 0; g < axes_.size(); ++g)
    if (!off_[g] && axes_[g][axis] && (axes_[g] & concerned).any()) return true;
  return false;
}

bool Guards::concern_both(const AxisSet& axes, const AxisSet& others) const {
  for (size_t g = 0; g < axes_.size(); ++g)
    if (!off_[g] && (axes_[g] & axes).any() && (axes_[g] & others).none()) return false;
  return true;
}

bool Guards::concern(const std::vector<size_t>& guards, const AxisSet& axes) const {
  return std::ranges::any_of(guards, [&](size_t g) { return (axes_[g] & axes).any(); });
}

std::optional<Guards::Reach> Guards::reach(size_t guard, int axis, bool over_loops) const {
  Reach out;
  out.exact = !kernel_.guards[guard].fills;
  Expr room = kernel_.guards[guard].upper - kernel_.guards[guard].lower;  // in range if positive
  int64_t coefficient = 0;
  Expr rest;
  for (size_t b = 0; b < kernel_.axes.size(); ++b) {
    if (static_cast<int>(b) == axis || !axes_[guard][b]) continue;
    const KernelAxis& inner = kernel_.axes[b];
    const bool spread = positions_.at(static_cast<int>(b)).is_spread();
    // Threads of a workgroup must run a loop equally often: it may contain barriers.
    if (!spread && is_block(inner.bind)) return {};
    if (!spread) continue;
    out.exact = false;
    // Takes the worst copy, lane or thread.
    const bool counts = (over_loops || inner.bind != Bind::kLoop) && !is_grid(inner.bind);
    if (!counts || !inner.extent.is_const() || !room.linear_in(inner.name, coefficient, rest) ||
        coefficient > 0)
      return {};
    room = rest + (inner.extent - 1) * coefficient;
  }
  if (!room.linear_in(kernel_.axes[axis].name, coefficient, rest) || coefficient >= 0) return {};
  out.full = max(ceil_div(rest, -coefficient), 0);
  return out;
}

Guards::Peel Guards::peel(int axis) const {
  Peel out;
  if (!peels_) return out;
  out.full = out.end = kernel_.axes[axis].extent;
  std::vector<size_t> others;
  for (size_t g = 0; g < kernel_.guards.size(); ++g) {
    if (off_[g] || !axes_[g][axis]) continue;
    const std::optional<Reach> to = reach(g, axis, false);
    if (!to) {
      others.push_back(g);
      continue;
    }
    out.guards.push_back(g);
    out.full = min(out.full, to->full);
    if (to->exact) out.end = min(out.end, to->full);
  }
  if (out.guards.empty()) return out;
  // An inner loop is peeled itself, unless its points are all in range.
  for (const size_t g : others)
    if (const auto to = reach(g, axis, true); to && min(out.full, to->full) == out.full)
      out.implied.push_back(g);
  return out;
}

std::vector<size_t> Guards::filled(int buffer) const {
  std::vector<size_t> guards;
  const KernelBuffer& b = kernel_.buffers[buffer];
  for (size_t g = 0; g < kernel_.guards.size(); ++g) {
    const bool is_filled = b.materialised ? b.zero_filled : kernel_.guards[g].fills;
    if (is_filled && !off_[g] && b.space != BufferSpace::kGlobal) guards.push_back(g);
  }
  return guards;
}

std::vector<size_t> Guards::ignorable(const KValue& load) const {
  std::vector<size_t> guards;
  const KernelBuffer& b = kernel_.buffers[load.buffer];
  const bool is_there = load.index.min() >= 0 && load.index.max() < b.count.min();
  if (b.space == BufferSpace::kGlobal || !is_there) return guards;
  for (size_t g = 0; g < kernel_.guards.size(); ++g)
    if (!kernel_.guards[g].fills && !off_[g] && !(axes_[g] & summed_).any()) guards.push_back(g);
  return guards;
}

void Guards::with_off(const std::vector<size_t>& guards, const std::function<void()>& emit) {
  for (const size_t g : guards) off_[g] = true;
  emit();
  for (const size_t g : guards) off_[g] = false;
}

void Guards::with_off(const Peel& peel, const std::function<void()>& emit) {
  with_off(peel.guards, [&] { with_off(peel.implied, emit); });
}

void Guards::without_peeling(const std::function<void()>& emit) {
  const bool before = std::exchange(peels_, false);
  emit();
  peels_ = before;
}

}  // namespace tenon
