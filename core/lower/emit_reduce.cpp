// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions: accumulators for each copy of the jam, partial ones for each copy of an unrolled
// reduce axis and each lane, merged when the loops are done.
#include "core/ir/scalar_op.hpp"
#include "core/lower/emitter.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// The loops around the step of a reduction, outermost first.
bool loops_to_step(const std::vector<Statement>& body, std::vector<int>& axes) {
  for (const Statement& s : body) {
    if (s.kind == Statement::Kind::kStep) return true;
    if (s.kind != Statement::Kind::kLoop) continue;
    axes.push_back(s.axis);
    if (loops_to_step(s.body, axes)) return true;
    axes.pop_back();
  }
  return false;
}

}  // namespace

void Emitter::reduce(const Statement& s) {
  Active active;
  active.statement = &s;
  active.outside = dependence_.of_reduction(s.id);
  std::vector<int> axes;
  loops_to_step(s.body, axes);
  if (in_lanes(active.outside)) active.lanes = lanes_;
  for (const int a : axes) {
    const KernelAxis& axis = kernel_.axes[a];
    active.own.set(a);
    if (axis.bind == Bind::kUnroll) active.copies *= static_cast<int>(axis.extent.value());
    if (axis.bind == Bind::kVector) {
      active.lanes = static_cast<int>(axis.extent.value());
      active.lane_partials = active.lanes > 1;
    }
    if (is_block(axis.bind)) active.group_axis = a;
  }
  active.instances = count_instances(active.outside);
  const bool matrix = begin_matrix(active);
  for (int i = 0; i < active.instances * active.copies && !matrix; ++i)
    for (const ReduceState& state : s.states)
      active.accumulators.push_back(
          constant(state.dtype, identity(state.op, state.dtype).bits, active.lanes));

  Active* const before = active_;
  active_ = &active;
  if (in_place_) push_memo();
  body(s.body);
  if (in_place_) pop_memo();
  active_ = before;

  const size_t states = s.states.size();
  std::vector<Value> totals;
  for (int p = 0; p < active.instances; ++p) {
    for (size_t k = 0; k < states; ++k) {
      const ReduceState& state = s.states[k];
      std::vector<Value> parts;
      for (int c = 0; c < active.copies; ++c)
        parts.push_back(active.accumulators[(p * active.copies + c) * states + k]);
      const Value total = merge(state.op, state.dtype, std::move(parts));
      totals.push_back(active.lane_partials ? lane_total(state.op, state.dtype, total) : total);
    }
  }
  if (matrix) {
    active.accumulators = std::move(totals);
    sums_[s.id] = std::move(active);
    return;
  }
  if (active.group_axis >= 0) totals = group_total(active, totals);
  each_instance(active.outside, [&](int p) {
    for (size_t k = 0; k < states; ++k)
      results_[{s.id, static_cast<int>(k), instance(active.outside)}] = totals[p * states + k];
  });
}

void Emitter::step() {
  Active& active = *active_;
  if (active.atom) return multiply_step();
  const std::vector<ReduceState>& states = active.statement->states;
  each_instance(active.outside | active.own, [&](int i) {
    Value mask = 0;
    bool masked = false;
    for (size_t g = 0; g < kernel_.guards.size(); ++g) {
      if (guard_off_[g] || (guard_axes_[g] & active.own).none()) continue;
      const Value real = guard_condition(kernel_.guards[g], false);
      mask = masked ? both(mask, real) : real;
      masked = true;
    }
    for (size_t k = 0; k < states.size(); ++k) {
      const ReduceState& state = states[k];
      Value v = value(state.value);
      const bool product = !masked && state.op == Op::ADD && is_float(state.dtype) &&
                           state.value->kind == KValueKind::kOp && state.value->op == Op::MUL;
      if (masked)
        v = op(TN_OP_WHERE, state.dtype,
               {mask, v, constant(state.dtype, identity(state.op, state.dtype).bits)});
      Value& accumulator = active.accumulators[static_cast<size_t>(i) * states.size() + k];
      accumulator = combine(state.op, state.dtype, accumulator, v, product ? TN_OP_CONTRACT : 0);
    }
  });
}

Emitter::Value Emitter::merge(Op code, DType dtype, std::vector<Value> parts) {
  while (parts.size() > 1) {
    std::vector<Value> next;
    for (size_t i = 0; i + 1 < parts.size(); i += 2)
      next.push_back(combine(code, dtype, parts[i], parts[i + 1]));
    if (parts.size() % 2) next.push_back(parts.back());
    parts = std::move(next);
  }
  return parts[0];
}

Emitter::Value Emitter::lane_total(Op code, DType dtype, Value v) {
  const bool known = code == Op::ADD || code == Op::MUL || code == Op::MAX;
  if (known && capabilities_.has(Op::LANE_REDUCE))
    return tree_.pure(TN_OP_LANE_REDUCE, static_cast<tn_dtype>(dtype), 1, std::span(&v, 1),
                      static_cast<uint64_t>(code));
  std::vector<Value> lanes;
  for (uint64_t l = 0; l < tree_.at(v).lanes; ++l)
    lanes.push_back(
        tree_.pure(TN_OP_EXTRACT, static_cast<tn_dtype>(dtype), 1, std::span(&v, 1), l));
  return merge(code, dtype, std::move(lanes));
}

}  // namespace tenon
