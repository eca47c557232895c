// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Leaves: loads with their masks, elementwise ops, results of reductions.
#include <algorithm>

#include "core/lower/emitter.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// Whether the value may fall where the symbol grows.
bool turns_back(const Expr& e, std::string_view symbol) {
  if (e.kind() == ExprKind::kMod && e.depends_on(symbol)) return true;
  if (e.kind() == ExprKind::kSum)
    return std::ranges::any_of(e.terms(),
                               [&](const auto& term) { return turns_back(term.second, symbol); });
  if (e.kind() == ExprKind::kConst || e.kind() == ExprKind::kSymbol) return false;
  return std::ranges::any_of(e.operands(),
                             [&](const Expr& operand) { return turns_back(operand, symbol); });
}

}  // namespace

uint64_t Emitter::instance(const AxisSet& set) const {
  uint64_t number = 0;
  for (const int axis : jam_)
    if (set[axis])
      number = number * static_cast<uint64_t>(kernel_.axes[axis].extent.value()) +
               static_cast<uint64_t>(positions_[axis].constant);
  return number;
}

int Emitter::count_instances(const AxisSet& set) const {
  int count = 1;
  for (const int axis : jam_)
    if (set[axis] && !pinned_[axis]) count *= static_cast<int>(kernel_.axes[axis].extent.value());
  return count;
}

void Emitter::each_instance(const AxisSet& set, const std::function<void(int)>& emit) {
  std::vector<int> axes;
  for (const int axis : jam_)
    if (set[axis] && !pinned_[axis]) axes.push_back(axis);
  const int count = count_instances(set);
  for (int i = 0; i < count; ++i) {
    int rest = i;
    for (size_t k = axes.size(); k-- > 0;) {
      const auto extent = static_cast<int>(kernel_.axes[axes[k]].extent.value());
      positions_[axes[k]] = {Position::Kind::kConstant, 0, rest % extent};
      rest /= extent;
    }
    emit(i);
  }
  for (const int axis : axes) positions_[axis] = {};
}

Emitter::Value Emitter::value(const KValueRef& v) {
  const Key key{v.get(), jam_.empty() ? 0 : instance(dependence_.of(v))};
  for (size_t i = memo_.size(); i-- > 0;)
    if (const auto found = memo_[i].find(key); found != memo_[i].end()) return found->second;
  return memo_.back()[key] = emit(v);
}

Emitter::Value Emitter::emit(const KValueRef& v) {
  switch (v->kind) {
    case KValueKind::kConst:
      return constant(v->dtype, v->constant.bits);
    case KValueKind::kIndex:
      if (v->dtype == DType::kBool) return condition(v->index);
      return cast(integer(v->index), v->dtype);
    case KValueKind::kLoad:
      return emit_load(*v);
    case KValueKind::kOp:
      return emit_op(*v);
    case KValueKind::kResult: {
      const auto found =
          results_.find({v->reduction, v->state, instance(dependence_.of_reduction(v->reduction))});
      TN_ASSERT(found != results_.end());
      return found->second;
    }
  }
  TN_ASSERT(false);
}

Emitter::Value Emitter::emit_op(const KValue& v) {
  std::vector<Value> operands;
  for (const KValueRef& operand : v.operands) operands.push_back(value(operand));
  return op(static_cast<tn_opcode>(v.op), v.dtype, std::move(operands), v.bits ? TN_CAST_BITS : 0);
}

Emitter::Value Emitter::guard_condition(const Guard& guard, bool uniform) {
  // The left side grows with every axis, so an axis that does not matter here stands at 0. But a
  // remainder (of padded loops that were merged) turns back: then some of the points may be real.
  std::map<std::string, Expr> zeros;
  std::map<std::string, Expr> symbols;
  guard.lower.collect_symbols(symbols);
  guard.upper.collect_symbols(symbols);
  for (const auto& [name, symbol] : symbols) {
    const auto axis = axis_of_.find(name);
    if (axis == axis_of_.end()) continue;
    const Position& p = positions_[axis->second];
    if (p.kind != Position::Kind::kClosed && !(uniform && p.kind == Position::Kind::kLane))
      continue;
    if (turns_back(guard.lower, name)) return condition(Expr(1));
    zeros.emplace(name, Expr(0));
  }
  if (zeros.empty()) return condition(guard.condition());
  return condition(less(guard.lower.substitute(zeros), guard.upper.substitute(zeros)));
}

bool Emitter::access_mask(const Expr& index, const Expr& own, const AxisSet& concerned,
                          Value& mask) {
  const AxisSet used = dependence_.of(index);
  bool any = false;
  const auto more = [&](Value v) {
    int64_t known = 0;
    if (is_constant(v, known) && known) return;
    mask = any ? both(mask, v) : v;
    any = true;
  };
  if (!own.is_const(1)) more(condition(own));
  const bool spread = in_lanes(dependence_.of(own));
  for (size_t g = 0; g < kernel_.guards.size(); ++g)
    if (!guard_off_[g] && (guard_axes_[g] & concerned).any())
      more(guard_condition(kernel_.guards[g], !spread && !in_lanes(used)));
  return any;
}

Emitter::Value Emitter::access_index(const Expr& index, bool spread, int& lanes, bool& contiguous) {
  lanes = 1;
  contiguous = true;
  if (!in_lanes(dependence_.of(index))) {
    const Value v = integer(index);
    if (!spread) return v;
    lanes = lanes_;
    contiguous = false;
    return broadcast(v, lanes_);
  }
  lanes = lanes_;
  const auto [found, is_new] = lane_forms_.try_emplace(index.node());
  LaneForm& form = found->second;
  if (is_new) {
    int64_t coefficient = 0;
    form.contiguous = index.linear_in(kernel_.axes[lane_axis_].name, coefficient, form.base) &&
                      coefficient == 1 && !in_lanes(dependence_.of(form.base));
  }
  if (form.contiguous) return integer(form.base);
  contiguous = false;
  return broadcast(integer(index), lanes_);
}

uint32_t Emitter::access_flags(int buffer, const Expr& index, int lanes, bool contiguous) {
  if (lanes == 1 || !contiguous) return 0;
  const KernelBuffer& b = kernel_.buffers[buffer];
  const int64_t bytes = lanes * static_cast<int64_t>(dtype_size(b.dtype));
  const bool aligned =
      alignment(buffer) % bytes == 0 && lane_forms_.at(index.node()).base.divisible_by(lanes);
  return aligned ? TN_OP_ALIGNED : 0;
}

int64_t Emitter::alignment(int buffer) const {
  const KernelBuffer& b = kernel_.buffers[buffer];
  return b.space == BufferSpace::kGlobal ? buffer_alignment(b, capabilities_) : kTileAlignment;
}

Emitter::Value Emitter::buffer(int b) {
  if (buffers_[b] == kNone) {
    Param p;
    p.buffer = b;
    p.dtype = kernel_.buffers[b].dtype;
    buffers_[b] = tree_.param(static_cast<tn_dtype>(p.dtype), params_.size());
    params_.push_back(p);
  }
  return buffers_[b];
}

Emitter::Value Emitter::emit_load(const KValue& v) {
  Value mask = 0;
  const bool masked = access_mask(v.index, v.mask, dependence_.of(v.index), mask);
  int64_t known = 0;
  if (masked && is_constant(mask, known) && !known) return constant(v.dtype, v.constant.bits);
  int lanes = 1;
  bool contiguous = true;
  const bool spread = masked && tree_.at(mask).lanes > 1;
  std::vector<Value> operands{buffer(v.buffer)};
  operands.push_back(access_index(v.index, spread, lanes, contiguous));
  if (masked) {
    operands.push_back(mask);
    operands.push_back(constant(v.dtype, v.constant.bits, lanes));
  }
  const KernelBuffer& b = kernel_.buffers[v.buffer];
  const bool fixed = b.kept || (b.space == BufferSpace::kGlobal && b.written);
  const uint32_t floor = tree_.inner(tree_.conditional(), floor_[v.buffer]);
  return tree_.load(static_cast<tn_dtype>(v.dtype), static_cast<uint16_t>(lanes), operands,
                    access_flags(v.buffer, v.index, lanes, contiguous), floor, fixed);
}

}  // namespace tenon
