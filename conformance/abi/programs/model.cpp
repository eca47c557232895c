// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/programs/model.hpp"

#include <algorithm>

#include "core/support/error.hpp"
#include "sdk/program/dot.hpp"
#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi::programs {

ProgramModel::ProgramModel(const sdk::ProgramView& program,
                           std::vector<std::vector<ModelValue>> memory, const uint32_t (&grid)[3],
                           const ModelRules& rules)
    : program_(program),
      grid_(grid),
      rules_(rules),
      closes_(sdk::region_closes(program)),
      left_(rules.most_lanes) {
  for (const uint32_t axis : program.header().workgroup) threads_ *= axis;
  subgroup_size_ = program.header().subgroup_size ? program.header().subgroup_size : threads_;
  subgroup_phases_.resize(threads_ / subgroup_size_ + 1);
  own_.resize(program.param_count());
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    const tn_param& param = program.param(i);
    const bool is_own = param.kind == TN_PARAM_ALLOC && param.space != TN_SPACE_SHARED;
    if (param.kind == TN_PARAM_ALLOC) memory[i].assign(param.count, {});
    if (is_own) own_[i].assign(threads_, ModelMemory(memory[i]));
    memory_.emplace_back(std::move(memory[i]));
  }
  is_used_.resize(program.op_count());
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    values_.emplace_back(size_t{threads_} * op.lanes);
    for (const uint32_t operand : program.operands(op)) is_used_[operand] = 1;
  }
}

void ProgramModel::refuse(uint32_t op, const std::string& expected) const {
  fail(ErrorKind::kInvalid, "[program] op {} {}: expected {}", op, sdk::op_text(program_.op(op).op),
       expected);
}

void ProgramModel::spend(uint32_t op, uint64_t lanes) {
  if (lanes > left_)
    throw ProgramTooLong(
        ErrorKind::kInvalid,
        fmt::format(
            "[program] op {} {}: expected a program that ends soon, after {} lanes it has not", op,
            sdk::op_text(program_.op(op).op), rules_.most_lanes));
  left_ -= lanes;
}

uint64_t ProgramModel::certain(uint32_t op, uint32_t value, uint32_t thread, uint32_t lane) {
  const ModelValue& v = at(value, thread, lane);
  if (!v.known) refuse(op, fmt::format("a certain value as %{}", value));
  return v.bits;
}

int64_t ProgramModel::counter(uint32_t op, uint32_t value, uint32_t thread, uint32_t lane) {
  const uint64_t bits = certain(op, value, thread, lane);
  return program_.op(value).dtype == TN_DTYPE_I32 ? static_cast<int32_t>(bits)
                                                  : static_cast<int64_t>(bits);
}

void ProgramModel::run() {
  uint32_t group[3];
  for (group[2] = 0; group[2] < grid_[2]; ++group[2])
    for (group[1] = 0; group[1] < grid_[1]; ++group[1])
      for (group[0] = 0; group[0] < grid_[0]; ++group[0]) run_group(group);
}

void ProgramModel::run_group(const uint32_t (&group)[3]) {
  std::copy_n(group, 3, group_);
  phase_ = 0;
  for (uint32_t i = 0; i < program_.param_count(); ++i) {
    if (program_.param(i).kind != TN_PARAM_ALLOC) continue;
    memory_[i].forget();
    for (ModelMemory& own : own_[i]) own.forget();
  }
  trips_.assign(threads_, 0);
  run_ops(0, program_.op_count(), Mask(threads_, 1));
  most_trips_ = std::max(most_trips_, *std::ranges::max_element(trips_));
  ++group_number_;
}

void ProgramModel::run_ops(uint32_t first, uint32_t last, const Mask& mask) {
  for (uint32_t i = first; i < last; ++i) {
    const tn_op& op = program_.op(i);
    if (op.op == TN_OP_IF || op.op == TN_OP_LOOP) {
      op.op == TN_OP_IF ? run_if(i, mask) : run_loop(i, mask);
      i = closes_[i];
      if (program_.op(i).op == TN_OP_ELSE) i = closes_[i];
      continue;
    }
    if (op.op == TN_OP_BARRIER) {
      run_barrier(i, mask);
      continue;
    }
    spend(i, uint64_t{threads_} * std::max<uint32_t>(op.lanes, 1));
    if (op.op >= TN_OP_SUBGROUP_SHUFFLE && op.op <= TN_OP_SUBGROUP_BROADCAST) {
      run_subgroups(i, mask);
      continue;
    }
    if (run_other(i, mask)) continue;
    for (uint32_t t = 0; t < threads_; ++t)
      if (mask[t]) compute(i, t);
  }
}

void ProgramModel::run_barrier(uint32_t i, const Mask& mask) {
  const uint64_t scope = program_.op(i).imm;
  if (scope != TN_SCOPE_BLOCK && scope != TN_SCOPE_SUBGROUP)
    refuse(i, "a barrier of the workgroup or of its subgroups");
  if (scope == TN_SCOPE_BLOCK) {
    if (std::ranges::find(mask, 0) != mask.end()) refuse(i, "all threads of the workgroup");
    ++phase_;
    return;
  }
  for (uint32_t first = 0; first < threads_; first += subgroup_size_) {
    const auto end = mask.begin() + std::min(first + subgroup_size_, threads_);
    const auto on = std::count(mask.begin() + first, end, uint8_t{1});
    if (on != 0 && on != end - (mask.begin() + first))
      refuse(i, "all threads of a subgroup or none");
    if (on != 0) ++subgroup_phases_[first / subgroup_size_];
  }
}

void ProgramModel::run_if(uint32_t i, const Mask& mask) {
  const uint32_t condition = program_.operands(program_.op(i))[0], close = closes_[i];
  Mask yes = mask, no = mask;
  for (uint32_t t = 0; t < threads_; ++t)
    if (mask[t]) (certain(i, condition, t, 0) ? no : yes)[t] = 0;
  const auto any = [](const Mask& m) { return std::ranges::find(m, 1) != m.end(); };
  if (any(yes)) run_ops(i + 1, close, yes);
  if (program_.op(close).op == TN_OP_ELSE && any(no)) run_ops(close + 1, closes_[close], no);
}

void ProgramModel::each_subgroup(uint32_t op, const Mask& mask,
                                 const std::function<void(uint32_t)>& run) const {
  const uint32_t size = program_.header().subgroup_size;
  if (size == 0 || threads_ % size) refuse(op, "whole subgroups");
  for (uint32_t first = 0; first < threads_; first += size) {
    const auto on = std::count(mask.begin() + first, mask.begin() + first + size, uint8_t{1});
    if (on == 0) continue;
    if (on != size) refuse(op, "all threads of a subgroup or none");
    run(first);
  }
}

void ProgramModel::run_subgroups(uint32_t i, const Mask& mask) {
  const tn_op& op = program_.op(i);
  const auto operands = program_.operands(op);
  const uint32_t size = program_.header().subgroup_size;
  each_subgroup(i, mask, [&](uint32_t first) {
    for (uint32_t l = 0; l < op.lanes; ++l) {
      std::vector<ModelValue> all;
      for (uint32_t t = first; t < first + size; ++t) all.push_back(at(operands[0], t, l));
      const ModelValue reduced =
          op.op == TN_OP_SUBGROUP_REDUCE ? reduce_lanes(op, all, value_rules()) : ModelValue{};
      for (uint32_t t = first; t < first + size; ++t) {
        const int64_t from = op.op == TN_OP_SUBGROUP_SHUFFLE ? counter(i, operands[1], t)
                                                             : static_cast<int64_t>(op.imm);
        const bool reduces = op.op == TN_OP_SUBGROUP_REDUCE;
        if (!reduces && (from < 0 || from >= size)) refuse(i, fmt::format("a lane below {}", size));
        at(i, t, l) = reduces ? reduced : all[static_cast<size_t>(from)];
      }
    }
  });
}

void ProgramModel::run_loop(uint32_t i, Mask mask) {
  const tn_op& loop = program_.op(i);
  const auto bounds = program_.operands(loop);
  const auto next = program_.operands(program_.op(closes_[i]));
  const auto carries = static_cast<uint32_t>(bounds.size() - 3);
  const Mask all = mask;
  std::vector<int64_t> iteration(threads_);
  for (uint32_t t = 0; t < threads_; ++t) {
    if (!all[t]) continue;
    iteration[t] = counter(i, bounds[0], t);
    if (counter(i, bounds[2], t) <= 0) refuse(i, "a step above 0");
    for (uint32_t k = 0; k < carries; ++k)
      for (uint32_t l = 0; l < program_.op(i + 1 + k).lanes; ++l)
        at(i + 1 + k, t, l) = at(bounds[3 + k], t, l);
  }
  for (;;) {
    bool any = false;
    for (uint32_t t = 0; t < threads_; ++t) {
      trips_[t] += mask[t];  // the last look at the end, too
      mask[t] = mask[t] && iteration[t] < counter(i, bounds[1], t);
      any |= mask[t] != 0;
      const auto bits = static_cast<uint64_t>(iteration[t]);
      if (mask[t]) at(i, t, 0) = {loop.dtype == TN_DTYPE_I32 ? bits & 0xffffffffu : bits, true};
    }
    if (!any) return;
    spend(i, 1);
    run_ops(i + 1 + carries, closes_[i], mask);
    for (uint32_t t = 0; t < threads_; ++t) {
      if (!mask[t]) continue;
      // All are read before one is written, the condition too, which may be a carry.
      const bool goes_on = next.size() == carries || certain(closes_[i], next[carries], t, 0);
      std::vector<ModelValue> fresh;
      for (uint32_t k = 0; k < carries; ++k)
        for (uint32_t l = 0; l < program_.op(i + 1 + k).lanes; ++l)
          fresh.push_back(at(next[k], t, l));
      auto from = fresh.begin();
      for (uint32_t k = 0; k < carries; ++k)
        for (uint32_t l = 0; l < program_.op(i + 1 + k).lanes; ++l) at(i + 1 + k, t, l) = *from++;
      mask[t] = goes_on;
      const int64_t step = counter(i, bounds[2], t);
      const int64_t most = loop.dtype == TN_DTYPE_I32 ? INT32_MAX : INT64_MAX;
      if (mask[t] && iteration[t] > most - step) refuse(i, "a counter that does not wrap");
      iteration[t] += mask[t] ? step : 0;
    }
  }
}

uint64_t ProgramModel::coordinate(uint64_t axis, uint32_t thread, uint32_t lane) const {
  const uint32_t* size = program_.header().workgroup;
  switch (axis) {
    case TN_AXIS_GRID_X:
    case TN_AXIS_GRID_Y:
    case TN_AXIS_GRID_Z:
      return group_[axis];
    case TN_AXIS_BLOCK_X:
      return thread % size[0];
    case TN_AXIS_BLOCK_Y:
      return thread / size[0] % size[1];
    case TN_AXIS_BLOCK_Z:
      return thread / size[0] / size[1];
    case TN_AXIS_LANE:
      return lane;
    case TN_AXIS_SUBGROUP:
    case TN_AXIS_SUBGROUP_LANE: {
      const uint32_t most = std::max(program_.header().subgroup_size, 1u);
      return axis == TN_AXIS_SUBGROUP ? thread / most : thread % most;
    }
    default:
      fail(ErrorKind::kInvalid, "[program] axis {} is not modelled", axis);
  }
}

/// One thread of any op without a region.
void ProgramModel::compute(uint32_t i, uint32_t thread) {
  const tn_op& op = program_.op(i);
  const auto operands = program_.operands(op);
  switch (op.op) {
    case TN_OP_CARRY:
    case TN_OP_END:
      return;
    case TN_OP_TAKE:
      return load(i, thread);
    case TN_OP_STORE:
      return store(i, thread);
    case TN_OP_ATOMIC:
      return atomic(i, thread);
    case TN_OP_LANE_REDUCE: {
      const uint32_t lanes = program_.op(operands[0]).lanes;
      const auto from = std::span(values(operands[0])).subspan(size_t{thread} * lanes, lanes);
      at(i, thread, 0) = reduce_lanes(op, from, value_rules());
      return;
    }
    case TN_OP_DOT:
      return add_products(i, thread);
    default:
      break;
  }
  for (uint32_t l = 0; l < op.lanes; ++l) {
    ModelValue& out = at(i, thread, l);
    if (op.op == TN_OP_CONST) {
      out = settled(as_it_is(op.dtype, op.imm, rules_.keeps), {});
    } else if (op.op == TN_OP_PARAM) {
      const ModelMemory& memory = memory_[op.imm];
      if (program_.param(static_cast<uint32_t>(op.imm)).kind == TN_PARAM_SCALAR)
        out = memory.value(0);
    } else if (op.op == TN_OP_INDEX) {
      out = {coordinate(op.imm, thread, l), true};
    } else if (op.op == TN_OP_BROADCAST) {
      out = at(operands[0], thread, 0);
    } else if (op.op == TN_OP_EXTRACT) {
      out = at(operands[0], thread, static_cast<uint32_t>(op.imm));
    } else if (op.op == TN_OP_COMPOSE) {
      out = at(operands[l], thread, 0);
    } else if (sdk::is_elementwise(*sdk::op_info(op.op))) {
      ModelValue in[3];
      for (size_t k = 0; k < operands.size(); ++k) in[k] = at(operands[k], thread, l);
      out = elementwise(program_, op, std::span(in, operands.size()), value_rules());
    } else {
      refuse(i, "an op that is modelled");
    }
  }
}

void ProgramModel::add_products(uint32_t i, uint32_t thread) {
  const tn_op& op = program_.op(i);
  const auto operands = program_.operands(op);
  const uint32_t count = sdk::dot_neighbours(program_, op);
  const auto factors = [&](uint32_t operand, uint32_t lane) {
    const uint32_t lanes = program_.op(operand).lanes;
    std::vector<ModelValue> out;
    for (uint32_t k = 0; k < count; ++k)
      out.push_back(at(operand, thread, (lane * count + k) % lanes));
    return out;
  };
  for (uint32_t l = 0; l < op.lanes; ++l) {
    const std::vector<ModelValue> x = factors(operands[0], l), y = factors(operands[1], l);
    const DotTerms terms{program_.op(operands[0]).dtype, program_.op(operands[1]).dtype, x, y};
    at(i, thread, l) = dot_sum(op, at(operands[2], thread, l), terms, value_rules());
  }
}

ModelValue ProgramModel::settled(ModelValue value, std::span<const ModelValue> operands) const {
  if (rules_.is_host) value.known = std::ranges::all_of(operands, &ModelValue::known);
  return value;
}

ModelMemory& ProgramModel::memory_of(uint32_t value, uint32_t thread) {
  const auto param = static_cast<uint32_t>(program_.op(value).imm);
  return own_[param].empty() ? memory_[param] : own_[param][thread];
}

ModelMemory& ProgramModel::touched(uint32_t i, uint32_t thread) {
  return memory_of(program_.operands(program_.op(i))[0], thread);
}

bool ProgramModel::is_on(uint32_t i, size_t mask_operand, uint32_t thread, uint32_t lane) {
  const auto operands = program_.operands(program_.op(i));
  return operands.size() <= mask_operand || certain(i, operands[mask_operand], thread, lane);
}

size_t ProgramModel::element(uint32_t i, uint32_t thread, uint32_t lane, uint32_t lanes) {
  const tn_op& op = program_.op(i);
  const uint32_t index = program_.operands(op)[1];
  int64_t first = counter(i, index, thread, lane);
  if (op.flags & TN_OP_ALIGNED && program_.op(index).lanes == 1 && first % lanes)
    refuse(i, fmt::format("an aligned index, got {}", first));
  const auto size = static_cast<int64_t>(touched(i, thread).size());
  if (program_.op(index).lanes == 1 && first < size) first += lane;
  if (first < 0 || first >= size)
    refuse(i, fmt::format("an element below {}, got {}", size, first));
  return static_cast<size_t>(first);
}

void ProgramModel::load(uint32_t i, uint32_t thread) {
  const tn_op& op = program_.op(i);
  const auto operands = program_.operands(op);
  for (uint32_t l = 0; l < op.lanes; ++l) {
    ModelValue& out = at(i, thread, l);
    if (!is_on(i, 2, thread, l))
      out = operands.size() > 3 ? at(operands[3], thread, l) : ModelValue{};
    else if (!touched(i, thread).read(element(i, thread, l, op.lanes), thread_id(thread), out,
                                      rules_.shares_words))
      refuse(i, "no other thread that writes there meanwhile");
  }
}

void ProgramModel::store(uint32_t i, uint32_t thread) {
  const uint32_t value = program_.operands(program_.op(i))[2], lanes = program_.op(value).lanes;
  for (uint32_t l = 0; l < lanes; ++l) {
    if (!is_on(i, 3, thread, l)) continue;
    ModelMemory& to = touched(i, thread);
    if (!to.write(element(i, thread, l, lanes), thread_id(thread), at(value, thread, l),
                  rules_.is_host))
      refuse(i, "no other thread that touches it meanwhile");
  }
}

void ProgramModel::atomic(uint32_t i, uint32_t thread) {
  const tn_op& op = program_.op(i);
  const auto operands = program_.operands(op);
  ModelMemory& to = touched(i, thread);
  const size_t cell = element(i, thread, 0, 1);
  const auto way = static_cast<uint32_t>(op.imm & 0xff);
  const bool commutes = way <= TN_ATOMIC_MAX && !sdk::is_float(op.dtype);
  const bool shares_words = rules_.shares_words && commutes && way == TN_ATOMIC_ADD;
  if (!to.atomic(cell, thread_id(thread), way, is_used_[i] || !commutes, shares_words))
    refuse(i, "no other thread that touches it meanwhile");
  const ModelValue old = to.value(cell);
  const ModelValue wanted = operands.size() > 3 ? at(operands[3], thread, 0) : ModelValue{0, true};
  const ModelValue in[] = {old, at(operands[2], thread, 0), wanted};
  to.set(cell, settled(after_atomic(op, in[0], in[1], in[2]), in));
  at(i, thread, 0) = old;
}

}  // namespace tenon::conformance::abi::programs
