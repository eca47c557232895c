// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which steps of a program a variant concerns: a function for each, in one table.
#include <algorithm>
#include <limits>
#include <set>

#include "conformance/selftest/plugin/index_form.hpp"
#include "sdk/program/dtype_info.hpp"

namespace tenon::planted {
namespace {

constexpr int64_t kFewThreads = 16;

bool is_load(const Step& step) { return step.op == TN_OP_TAKE && step.global; }

void each_load(Code& code, const std::function<void(Step&)>& use) {
  for (Step& step : code.steps)
    if (is_load(step)) use(step);
}

/// Carried values of a loop, each with the op that makes the next one.
struct Carried {
  uint32_t carry, next;
};
std::vector<Carried> carried(const Code& code, uint32_t loop) {
  std::vector<Carried> out;
  const Step& end = code.steps[code.steps[loop].closes];
  const size_t count = code.steps[loop].operands.size() - 3;
  for (uint32_t k = 0; k < count; ++k) out.push_back({loop + 1 + k, end.operands[k]});
  return out;
}

/// What a value adds up: the CARRY itself, or an ADD or FMA of what does.
bool finds_carry(const Code& code, uint32_t value, uint32_t carry, std::set<uint32_t>& seen) {
  if (value == carry) return true;
  if (!seen.insert(value).second) return false;
  const Step& step = code.steps[value];
  const bool is_sum = step.op == TN_OP_ADD || step.op == TN_OP_FMA;
  return is_sum && std::ranges::any_of(step.operands, [&](uint32_t operand) {
           return finds_carry(code, operand, carry, seen);
         });
}

bool accumulates(const Code& code, uint32_t value, uint32_t carry) {
  std::set<uint32_t> seen;
  return finds_carry(code, value, carry, seen);
}

/// A loop that does nothing but add floats up: its iterations may run in any order.
bool is_plain_sum(const Code& code, uint32_t loop) {
  const Step& begin = code.steps[loop];
  const std::vector<Carried> all = carried(code, loop);
  const auto& flags = code.view().op(loop).flags;
  if (all.empty() || (flags & TN_OP_WHILE)) return false;
  for (uint32_t i = loop; i < begin.closes; ++i) {
    const uint16_t op = code.steps[i].op;
    if (op == TN_OP_STORE || op == TN_OP_ATOMIC || op == TN_OP_BARRIER) return false;
    if (i != loop && (op == TN_OP_LOOP || op == TN_OP_IF)) return false;
  }
  return std::ranges::all_of(all, [&](const Carried& c) {
    return sdk::is_float(code.steps[c.carry].dtype) && c.next != c.carry &&
           accumulates(code, c.next, c.carry);
  });
}

void mark_sums(Code& code, Quirk quirk) {
  for (uint32_t i = 0; i < code.steps.size(); ++i) {
    Step& step = code.steps[i];
    if (step.op == TN_OP_LOOP && is_plain_sum(code, i)) step.quirk = quirk;
    const bool is_lane_sum = step.op == TN_OP_LANE_REDUCE && step.imm == TN_OP_ADD;
    if (is_lane_sum && sdk::is_float(step.dtype)) step.quirk = quirk;
  }
}

void mark_bf16(Code& code) {
  const bool narrow = std::ranges::any_of(
      code.steps, [&](const Step& step) { return is_load(step) && step.dtype == TN_DTYPE_BF16; });
  if (!narrow) return;
  for (uint32_t i = 0; i < code.steps.size(); ++i) {
    if (code.steps[i].op != TN_OP_LOOP) continue;
    for (const Carried& c : carried(code, i)) {
      Step& sum = code.steps[c.next];
      if (sum.op == TN_OP_ADD && sum.dtype == TN_DTYPE_F32 && accumulates(code, c.next, c.carry))
        sum.quirk = Quirk::bf16_sum;
    }
  }
  for (Step& step : code.steps)
    if (step.op == TN_OP_LANE_REDUCE && step.imm == TN_OP_ADD && step.dtype == TN_DTYPE_F32)
      step.quirk = Quirk::bf16_sum;
}

void mark_fused(Code& code) {
  for (Step& step : code.steps) {
    if (step.op != TN_OP_ADD || (step.dtype != TN_DTYPE_F32 && step.dtype != TN_DTYPE_F64))
      continue;
    for (uint32_t side = 0; side < 2; ++side)
      if (code.steps[step.operands[side]].op == TN_OP_MUL) {
        step.quirk = Quirk::fuse;
        step.other = step.operands[side];
        step.amount = step.operands[1 - side];
      }
  }
}

void mark_negative(Code& code) {
  each_load(code, [&](Step& step) {
    if (!index_form(code, step.operands[1]).goes_backwards()) return;
    step.quirk = Quirk::shift_index;
    step.amount = -1;
  });
}

void mark_offset(Code& code) {
  std::map<uint32_t, int64_t> least;  // by PARAM
  each_load(code, [&](Step& step) {
    const IndexForm form = index_form(code, step.operands[1]);
    const int64_t offset = form.goes_backwards() ? 0 : form.constant;
    const auto [at, fresh] = least.emplace(step.operands[0], offset);
    if (!fresh) at->second = std::min(at->second, offset);
  });
  each_load(code, [&](Step& step) {
    const int64_t offset = least[step.operands[0]];
    if (offset <= 0) return;
    step.quirk = Quirk::shift_index;
    step.amount = -offset;
  });
}

/// In elementwise kernels: vectors and neighbours that read one element.
void mark_broadcast(Code& code) {
  if (std::ranges::any_of(code.steps, [](const Step& s) { return s.op == TN_OP_LOOP; })) return;
  each_load(code, [&](Step& step) {
    const IndexForm form = index_form(code, step.operands[1]);
    const bool moves = !form.terms.empty() && is_coordinate(code, step.operands[1]);
    if (moves && step.lanes == 1) step.quirk = Quirk::shared_neighbour;
  });
}

void mark_middle(Code& code) {
  for (uint32_t loop = 0; loop < code.steps.size(); ++loop) {
    if (code.steps[loop].op != TN_OP_LOOP || carried(code, loop).empty()) continue;
    for (uint32_t i = loop; i < code.steps[loop].closes; ++i) {
      Step& step = code.steps[i];
      if (!is_load(step)) continue;
      const IndexForm form = index_form(code, step.operands[1]);
      const auto mine = form.terms.find(loop);
      if (mine == form.terms.end() || mine->second < 2) continue;
      const bool outside = std::ranges::any_of(
          form.terms, [&](const auto& term) { return term.second > mine->second; });
      if (!outside) continue;
      step.quirk = Quirk::short_stride;
      step.other = loop;
    }
  }
}

/// An IF on the first threads of a workgroup: how many they are.
std::optional<int64_t> first_threads(const Code& code, uint32_t i) {
  if (code.steps[i].op != TN_OP_IF) return std::nullopt;
  const Step& condition = code.steps[code.steps[i].operands[0]];
  if (condition.op != TN_OP_CMPLT) return std::nullopt;
  const Step& index = code.steps[condition.operands[0]];
  const bool is_thread =
      index.op == TN_OP_INDEX && index.imm >= TN_AXIS_BLOCK_X && index.imm <= TN_AXIS_BLOCK_Z;
  return is_thread ? constant_of(code, condition.operands[1]) : std::nullopt;
}

void mark_partial(Code& code) {
  for (uint32_t i = 0; i < code.steps.size(); ++i) {
    if (first_threads(code, i).value_or(0) < 4) continue;
    for (uint32_t k = i; k < code.steps[i].closes; ++k)
      if (code.steps[k].op == TN_OP_STORE && !code.steps[k].global) {
        code.steps[k].quirk = Quirk::lose_last;
        return;
      }
  }
}

void mark_barriers(Code& code) {
  for (uint32_t i = 0; i < code.steps.size(); ++i) {
    const auto threads = first_threads(code, i);
    const uint32_t after = code.steps[i].closes + 1;
    if (threads && *threads <= kFewThreads && after < code.steps.size() &&
        code.steps[after].op == TN_OP_BARRIER)
      code.steps[after].quirk = Quirk::no_barrier;
  }
}

/// A constant that is where a max begins.
void mark_identity(Code& code) {
  for (const Step& max : code.steps) {
    if (max.op != TN_OP_MAX && max.op != TN_OP_LOOP && max.op != TN_OP_WHERE) continue;
    const bool has_max = std::ranges::any_of(code.steps, [&](const Step& s) {
      return s.op == TN_OP_MAX || (s.op == TN_OP_LANE_REDUCE && s.imm == TN_OP_MAX);
    });
    if (!has_max) return;
    for (const uint32_t operand : max.operands) {
      Step& constant = code.steps[operand];
      if (constant.op != TN_OP_CONST) continue;
      const uint8_t d = constant.dtype;
      const bool lowest = sdk::is_signed(d) && constant.imm == uint64_t{1}
                                                                   << (8 * constant.bytes - 1);
      const bool infinite = sdk::is_float(d) && sdk::to_double(constant.imm, d) ==
                                                    -std::numeric_limits<double>::infinity();
      if (lowest || infinite) constant.imm = 0;
    }
  }
}

void mark_zeros(Code& code) {
  for (Step& step : code.steps)
    if (step.op == TN_OP_CONST && sdk::is_float(step.dtype) &&
        sdk::to_double(step.imm, step.dtype) == 0)
      step.imm = 0;
}

void on_loads(Code& code, Quirk quirk, int64_t amount = 0) {
  each_load(code, [&](Step& step) {
    step.quirk = quirk;
    step.amount = amount;
  });
}
void on_guarded_loads(Code& code, Quirk quirk) {
  each_load(code, [&](Step& step) {
    if (step.operands.size() > 2) step.quirk = quirk;
  });
}
void on_stores(Code& code, Quirk quirk, int64_t amount = 0) {
  for (Step& step : code.steps) {
    if (step.op != TN_OP_STORE || !step.global) continue;
    step.quirk = quirk;
    step.amount = amount;
  }
}
void on_loops(Code& code, Quirk quirk, int64_t amount = 0) {
  for (Step& step : code.steps) {
    if (step.op != TN_OP_LOOP) continue;
    step.quirk = quirk;
    step.amount = amount;
  }
}

/// Of a condition "loop's variable < constant": the constant at the last step before it.
void mark_splits(Code& code) {
  for (const Step& branch : code.steps) {
    if (branch.op != TN_OP_IF) continue;
    const Step& less = code.steps[branch.operands[0]];
    if (less.op != TN_OP_CMPLT || code.steps[less.operands[0]].op != TN_OP_LOOP) continue;
    const Step& loop = code.steps[less.operands[0]];
    const auto begin = constant_of(code, loop.operands[0]),
               end = constant_of(code, loop.operands[1]),
               step = constant_of(code, loop.operands[2]),
               bound = constant_of(code, less.operands[1]);
    if (!begin || !end || !step || !bound || *begin >= *bound || *bound >= *end) continue;
    code.steps[less.operands[1]].imm -= static_cast<uint64_t>((*bound - *begin) % *step);
  }
}

/// Distances of 2^15 bytes and more are negative ones.
void mark_distances(Code& code) {
  constexpr int64_t kFirst = 1 << 15, kEnd = 1 << 16;
  for (Step& step : code.steps) {
    if (step.op != TN_OP_TAKE || step.global || code.steps[step.operands[1]].op != TN_OP_ADD)
      continue;
    const auto distance = constant_of(code, code.steps[step.operands[1]].operands[1]);
    if (!distance || *distance * step.bytes < kFirst || *distance * step.bytes >= kEnd) continue;
    step.quirk = Quirk::far_distance;
    step.amount = 1;
  }
}

void mark_deep(Code& code) {
  constexpr int kDeepest = 32;
  int depth = 0;
  for (Step& step : code.steps) {
    if (step.op == TN_OP_LOOP || step.op == TN_OP_IF) ++depth;
    if (step.op == TN_OP_END) --depth;
    if (step.op == TN_OP_STORE && depth > kDeepest) step.quirk = Quirk::few_lanes;
  }
}

constexpr struct {
  Variant variant;
  void (*apply)(Code&);
} kMarks[] = {
    {Variant::bf16_accumulator, mark_bf16},
    {Variant::tail_skipped, [](Code& c) { on_stores(c, Quirk::skip_tail); }},
    {Variant::past_1024, [](Code& c) { on_loads(c, Quirk::wrap_index, 1024); }},
    {Variant::broadcast_stride, mark_broadcast},
    {Variant::negative_stride, mark_negative},
    {Variant::offset_dropped, mark_offset},
    {Variant::wrong_pad_value, [](Code& c) { on_guarded_loads(c, Quirk::zero_fill); }},
    {Variant::index_overflow,
     [](Code& c) {
       each_load(c, [](Step& step) {
         step.quirk = Quirk::wrap_index;
         step.amount = (1 << 14) / step.bytes;
       });
     }},
    {Variant::max_identity_0, mark_identity},
    {Variant::middle_stride, mark_middle},
    {Variant::lost_partial, mark_partial},
    {Variant::order_dependent, [](Code& c) { mark_sums(c, Quirk::every_second); }},
    {Variant::write_past_end, [](Code& c) { on_stores(c, Quirk::spill_after); }},
    {Variant::write_before_start, [](Code& c) { on_stores(c, Quirk::spill_before); }},
    {Variant::padding_read, [](Code& c) { on_guarded_loads(c, Quirk::read_padding); }},
    {Variant::missing_barrier, mark_barriers},
    {Variant::zeros_merged, mark_zeros},
    {Variant::unroll_remainder, [](Code& c) { on_loops(c, Quirk::short_count); }},
    {Variant::past_2_20, [](Code& c) { on_loads(c, Quirk::wrap_index, 1 << 20); }},
    {Variant::past_2_24, [](Code& c) { on_loads(c, Quirk::wrap_index, 1 << 24); }},
    {Variant::lanes_32, [](Code& c) { on_stores(c, Quirk::few_lanes, 32); }},
    {Variant::nesting_32, mark_deep},
    {Variant::trips_2_20, [](Code& c) { on_loops(c, Quirk::few_iterations, 1 << 20); }},
    {Variant::split_on_grid, mark_splits},
    {Variant::distance_15, mark_distances},
    {Variant::trips_16, [](Code& c) { on_loops(c, Quirk::few_iterations, UINT16_MAX); }},
    {Variant::counter_32, [](Code& c) { on_loops(c, Quirk::short_counter); }},
    {Variant::carry_kept, [](Code& c) { on_loops(c, Quirk::keeps_carry); }},
    {Variant::while_kept, [](Code& c) { on_loops(c, Quirk::keeps_end); }},
    {Variant::reassociated_sum, [](Code& c) { mark_sums(c, Quirk::backwards); }},
    {Variant::fma_contraction, mark_fused},
    {Variant::other_tree, [](Code& c) { mark_sums(c, Quirk::halves); }},
};

}  // namespace

void mark(Code& code) {
  for (const auto& row : kMarks)
    if (row.variant == code.variant) row.apply(code);
}

}  // namespace tenon::planted
