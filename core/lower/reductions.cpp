// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/reductions.hpp"

#include <algorithm>
#include <set>

#include "core/ir/scalar_op.hpp"

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

void Reductions::begin(const Statement& s) {
  Open open;
  open.statement = &s;
  open.outside = positions_.axes_of_reduction(s.id);
  std::vector<int> axes;
  loops_to_step(s.body, axes);
  if (positions_.in_lanes(open.outside)) open.lanes = positions_.lanes();
  for (const int a : axes) {
    const KernelAxis& axis = kernel_.axes[a];
    open.own.set(a);
    if (axis.bind == Bind::kUnroll && matrix_axes(kernel_, s)[2] < 0)
      open.copies *= static_cast<int>(axis.extent.value());
    if (axis.bind == Bind::kVector) {
      open.lanes = static_cast<int>(axis.extent.value());
      open.lane_partials = open.lanes > 1 && !s.running;
      open.along_lanes = open.lanes > 1 && s.running;
    }
    if (is_block(axis.bind)) open.group_axis = a;
  }
  open.instances = positions_.count_instances(open.outside);
  open.matrix = matrix_sums_.product(s, launch_.subgroup());
  if (s.continues) open.accumulators = matrix_sums_.before(s, *open.matrix, open.outside);
  for (int i = 0; !s.continues && i < open.instances * open.copies; ++i)
    for (const ReduceState& state : s.states)
      open.accumulators.push_back(
          open.matrix
              ? ops_.constant(state.dtype, 0, open.matrix->atom->c_lanes)
              : ops_.constant(state.dtype, identity(state.op, state.dtype).bits, open.lanes));
  open.sums = open.accumulators.size();
  open.dot = dot_sums_.product(s);
  if (open.dot && open.dot->factors.biased) {
    const int excesses =
        positions_.count_instances(dot_sums_.axes_of_excess(*open.dot) & open.outside);
    for (int i = 0; i < excesses; ++i)
      open.accumulators.push_back(ops_.constant(open.dot->sum, 0, open.lanes));
  }
  open_.push_back(std::move(open));
}

void Reductions::end() {
  Open open = std::move(open_.back());
  open_.pop_back();
  const Statement& s = *open.statement;
  if (s.running) return;  // its results are used inside
  const size_t states = s.states.size();
  std::vector<Value> totals;
  for (int p = 0; p < open.instances; ++p) {
    for (size_t k = 0; k < states; ++k) {
      const ReduceState& state = s.states[k];
      std::vector<Value> parts;
      for (int c = 0; c < open.copies; ++c)
        parts.push_back(open.accumulators[(p * open.copies + c) * states + k]);
      totals.push_back(merge(state.op, state.dtype, std::move(parts)));
    }
  }
  subtract_excess(open, totals);
  if (open.lane_partials)
    for (size_t i = 0; i < totals.size(); ++i)
      totals[i] = lane_total(s.states[i % states].op, s.states[i % states].dtype, totals[i]);
  if (open.matrix) return matrix_sums_.set_fragments(s.id, *open.matrix, std::move(totals));
  if (open.group_axis >= 0)
    totals = group_totals_.totals(s.states, kernel_.axes[open.group_axis], std::move(totals));
  positions_.each_instance(open.outside, [&](int p) {
    for (size_t k = 0; k < states; ++k)
      leaves_.set_result(s.id, static_cast<int>(k), totals[p * states + k]);
  });
}

void Reductions::step() {
  Open& open = open_.back();
  if (open.dot) return step_dots(open);
  if (!open.matrix) return step_elements(open);
  // Fragments are large: unrolled iterations share one accumulator.
  positions_.each_instance(open.outside | open.own, [&](int) {
    Value& sum = open.accumulators[positions_.instance(open.outside)];
    sum = matrix_sums_.step(*open.matrix, sum);
  });
}

void Reductions::step_dots(Open& open) {
  const DotProduct& p = *open.dot;
  if (!dot_sums_.is_whole(p, open.own)) {  // at an edge: element by element
    for (int64_t i = 0; i < kernel_.axes[p.axis].extent.value(); ++i) {
      positions_.put_constant(p.axis, i);
      const Leaves::Scope scope(leaves_);
      step_elements(open);
    }
    return positions_.close(p.axis);
  }
  const AxisSet excess = dot_sums_.axes_of_excess(p);
  std::set<uint64_t> counted;
  positions_.each_instance(open.outside | open.own, [&](int i) {
    Value& sum = open.accumulators[static_cast<size_t>(i)];
    sum = dot_sums_.step(p, sum);
    if (!p.factors.biased || !counted.insert(positions_.instance(excess)).second) return;
    Value& more = open.accumulators[open.sums + positions_.instance(excess & open.outside)];
    more = dot_sums_.step_of_excess(p, more);
  });
}

void Reductions::subtract_excess(const Open& open, std::vector<Value>& totals) {
  if (!open.dot || !open.dot->factors.biased) return;
  const AxisSet excess = dot_sums_.axes_of_excess(*open.dot) & open.outside;
  positions_.each_instance(open.outside, [&](int i) {
    Value& total = totals[static_cast<size_t>(i)];
    const Value more = open.accumulators[open.sums + positions_.instance(excess)];
    total = dot_sums_.without_excess(*open.dot, total, more);
  });
}

void Reductions::step_elements(Open& open) {
  const std::vector<ReduceState>& states = open.statement->states;
  positions_.each_instance(open.outside | open.own, [&](int i) {
    // A copy that is out of range in all lanes adds nothing.
    const bool adds = !exprs_.any_false(guards_.conditions(open.outside | open.own, true));
    if (!adds && !open.statement->running) return;
    const std::optional<Value> in_range = adds ? mask(open) : std::nullopt;
    for (size_t k = 0; k < states.size(); ++k) {
      const ReduceState& state = states[k];
      Value& sum = open.accumulators[static_cast<size_t>(i) * states.size() + k];
      if (open.statement->running) {
        sum = scan_step(open, k, sum,
                        adds ? std::optional(term(open, state, in_range).value) : std::nullopt);
        continue;
      }
      const Term t = term(open, state, in_range);
      // 0 + x replaces -0 by 0: one of several partial sums has to do it.
      const OpTree::Op& before = ops_.tree().at(sum);
      const bool begins = before.op == TN_OP_CONST && before.lanes == ops_.lanes(t.value) &&
                          before.imm == identity(state.op, state.dtype).bits &&
                          (state.op != Op::ADD || i % open.copies != 0);
      sum = begins ? t.value : ops_.combine(state.op, state.dtype, sum, t.value, t.flags);
    }
  });
}

std::optional<Reductions::Value> Reductions::mask(const Open& open) {
  std::optional<Value> mask;
  for (const Expr& condition : guards_.conditions(open.own, false)) {
    const Value in_range = exprs_.condition(condition);
    mask = mask ? ops_.both(*mask, in_range) : in_range;
  }
  return mask;
}

Reductions::Term Reductions::term(const Open& open, const ReduceState& state,
                                  std::optional<Value> in_range) {
  const Value v = leaves_.value(state.value);
  const bool is_product = state.op == Op::ADD && is_float(state.dtype) &&
                          state.value->kind == KValueKind::kOp && state.value->op == Op::MUL;
  const bool chooses = in_range && !(is_product && is_zero_beyond(open, *state.value));
  if (!chooses) return {v, is_product ? TN_OP_CONTRACT : 0U};
  return {ops_.op(TN_OP_WHERE, state.dtype,
                  {*in_range, v, ops_.constant(state.dtype, identity(state.op, state.dtype).bits)}),
          0};
}

Reductions::Value Reductions::scan_step(const Open& open, size_t k, Value sum,
                                        std::optional<Value> term) {
  const ReduceState& state = open.statement->states[k];
  Value result = sum;
  if (term) {
    const Value v = open.along_lanes
                        ? prefixes(state.op, state.dtype, ops_.broadcast(*term, open.lanes))
                        : *term;
    result = ops_.combine(state.op, state.dtype, sum, v);
  }
  leaves_.set_result(open.statement->id, static_cast<int>(k), result);
  return open.along_lanes ? ops_.broadcast(ops_.lane(result, open.lanes - 1), open.lanes) : result;
}

/// Hillis and Steele's scan: in step s each lane combines with the lane 2^s before it.
Reductions::Value Reductions::prefixes(Op code, DType dtype, Value v) {
  const int lanes = ops_.lanes(v);
  const Value at = ops_.lane_index(lanes);
  for (int distance = 1; distance < lanes; distance *= 2) {
    std::vector<Value> turned;
    for (int l = 0; l < lanes; ++l) turned.push_back(ops_.lane(v, (l + lanes - distance) % lanes));
    const Value before = ops_.tree().pure(TN_OP_COMPOSE, static_cast<tn_dtype>(dtype),
                                          static_cast<uint16_t>(lanes), turned);
    const Value has_one =
        ops_.op(TN_OP_CMPLT, DType::kBool, {ops_.index_constant(distance - 1), at});
    v = ops_.op(TN_OP_WHERE, dtype, {has_one, ops_.combine(code, dtype, before, v), v});
  }
  return v;
}

bool Reductions::is_zero_beyond(const Open& open, const KValue& product) const {
  return std::ranges::all_of(product.operands, [&](const KValueRef& factor) {
    const AxisSet axes = positions_.axes_of(factor->index);
    return factor->kind == KValueKind::kLoad && factor->constant.bits == 0 &&
           positions_.in_lanes(axes) && guards_.concern_both(open.own, axes);
  });
}

Reductions::Value Reductions::merge(Op code, DType dtype, std::vector<Value> parts) {
  while (parts.size() > 1) {
    std::vector<Value> next;
    for (size_t i = 0; i + 1 < parts.size(); i += 2)
      next.push_back(ops_.combine(code, dtype, parts[i], parts[i + 1]));
    if (parts.size() % 2) next.push_back(parts.back());
    parts = std::move(next);
  }
  return parts[0];
}

Reductions::Value Reductions::lane_total(Op code, DType dtype, Value v) {
  const bool known = code == Op::ADD || code == Op::MUL || code == Op::MAX;
  if (known && capabilities_.has(Op::LANE_REDUCE))
    return ops_.tree().pure(TN_OP_LANE_REDUCE, static_cast<tn_dtype>(dtype), 1, std::span(&v, 1),
                            static_cast<uint64_t>(code));
  std::vector<Value> lanes;
  for (int l = 0; l < ops_.lanes(v); ++l) lanes.push_back(ops_.lane(v, l));
  return merge(code, dtype, std::move(lanes));
}

}  // namespace tenon
