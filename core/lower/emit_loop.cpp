// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that run: a part whose points are all real, without masks, and a guarded tail.
#include "core/lower/emitter.hpp"

namespace tenon {

Emitter::Peel Emitter::peel(int axis) const {
  Peel out;
  if (!specialise_) return out;
  const KernelAxis& a = kernel_.axes[axis];
  out.full = a.extent;
  for (size_t g = 0; g < kernel_.guards.size(); ++g) {
    if (guard_off_[g] || !guard_axes_[g][axis]) continue;
    Expr room = kernel_.guards[g].upper - kernel_.guards[g].lower;  // real where positive
    bool possible = true;
    for (size_t b = 0; b < kernel_.axes.size() && possible; ++b) {
      const bool closed = positions_[b].kind == Position::Kind::kClosed ||
                          positions_[b].kind == Position::Kind::kLane;
      if (static_cast<int>(b) == axis || !guard_axes_[g][b]) continue;
      // Threads of a workgroup run a loop equally often: there may be barriers in it.
      possible = closed || !is_block(kernel_.axes[b].bind);
      if (!closed || !possible) continue;
      // The worst copy or lane or thread counts; a loop further in is peeled there.
      const KernelAxis& inner = kernel_.axes[b];
      int64_t coefficient = 0;
      Expr rest;
      possible = inner.bind != Bind::kLoop && !is_grid(inner.bind) && inner.extent.is_const() &&
                 room.linear_in(inner.name, coefficient, rest) && coefficient <= 0;
      if (possible) room = rest + (inner.extent - 1) * coefficient;
    }
    int64_t coefficient = 0;
    Expr rest;
    if (!possible || !room.linear_in(a.name, coefficient, rest) || coefficient >= 0) continue;
    out.guards.push_back(g);
    out.full = min(out.full, max(ceil_div(rest, -coefficient), 0));
  }
  return out;
}

void Emitter::with_guards_off(const std::vector<size_t>& guards,
                              const std::function<void()>& emit) {
  for (const size_t g : guards) guard_off_[g] = true;
  emit();
  for (const size_t g : guards) guard_off_[g] = false;
}

void Emitter::guarded(const std::function<void()>& emit) {
  specialise_ = false;
  emit();
  specialise_ = true;
}

void Emitter::serial_loop(const Statement& s) {
  const Expr& extent = kernel_.axes[s.axis].extent;
  const Peel p = peel(s.axis);
  if (p.guards.empty()) {
    counted(s, 0, extent);
    return;
  }
  with_guards_off(p.guards, [&] { counted(s, 0, p.full, true); });
  if (!(p.full == extent)) guarded([&] { counted(s, p.full, extent); });
}

void Emitter::counted(const Statement& s, const Expr& begin, const Expr& end, bool bare) {
  const Expr count = end - begin;
  if (count.is_const() && count.value() <= 0) return;
  push_memo();
  if (count.is_const(1)) {
    if (begin.is_const())
      positions_[s.axis] = {Position::Kind::kConstant, 0, begin.value()};
    else
      positions_[s.axis] = {Position::Kind::kValue, integer(begin), 0};
    body(s.body);
  } else {
    const bool carries = kernel_.axes[s.axis].kind == AxisKind::kReduce;
    std::vector<Value> initial;
    if (carries) initial = active_->accumulators;
    const bool skips = bare && count.min() < 1;
    const Value loop =
        tree_.begin_loop(integer(begin), integer(end), index_constant(1), initial, skips);
    if (carries)
      for (size_t k = 0; k < initial.size(); ++k)
        active_->accumulators[k] = loop + 1 + static_cast<Value>(k);
    positions_[s.axis] = {Position::Kind::kValue, tree_.position(loop), 0};
    body(s.body);
    if (carries)
      active_->accumulators = tree_.end_loop(active_->accumulators);
    else
      tree_.end_loop({});
  }
  positions_[s.axis] = {};
  pop_memo();
}

}  // namespace tenon
