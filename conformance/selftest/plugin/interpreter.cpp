// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow and values.
#include "conformance/selftest/plugin/interpreter.hpp"

#include <algorithm>

#include "conformance/selftest/plugin/arithmetic.hpp"

namespace tenon::planted {
namespace {

bool any(const std::vector<uint8_t>& mask) { return std::ranges::find(mask, 1) != mask.end(); }

/// Shared memory of all devices, of a variant.
constexpr uint64_t kShared = 1 << 16;
alignas(64) std::byte shared_by_all[kShared];

/// Iterations of a loop; a vast number stands for every larger one.
uint64_t count_iterations(int64_t begin, int64_t end, int64_t step) {
  if (begin >= end) return 0;
  return (static_cast<uint64_t>(end) - static_cast<uint64_t>(begin) - 1) /
             static_cast<uint64_t>(step) +
         1;
}

}  // namespace

Interpreter::Interpreter(const Code& code, std::span<const sdk::HostArgument> arguments,
                         const uint32_t (&grid)[3])
    : code_(code),
      view_(code.view()),
      grid_(grid),
      words_(new uint64_t[code.value_count + 1]),
      everybody_(code.threads, 1) {
  uint64_t shared_at = 0;
  for (uint32_t i = 0, argument = 0; i < view_.param_count(); ++i) {
    const bool is_own = view_.param(i).kind == TN_PARAM_ALLOC;
    is_private_.push_back(is_own && view_.param(i).space != TN_SPACE_SHARED);
    const uint64_t bytes = code.places[i].bytes;
    own_.emplace_back(is_private_[i] ? bytes * code.threads : bytes);
    std::byte* own = own_[i].data();
    const bool is_by_all = code.variant == Variant::shares_shared && is_own && !is_private_[i];
    if (is_by_all && shared_at + bytes <= kShared) {
      own = shared_by_all + shared_at;
      shared_at += (bytes + 63) / 64 * 64;
    }
    bound_.push_back(is_own ? sdk::HostArgument{own, bytes, 0} : arguments[argument++]);
  }
  if (code.variant == Variant::binding_dtype) keep_unlike();
  odd_launch_ = code.launches.fetch_add(1, std::memory_order_relaxed) % 2 == 1;
  if (code.variant == Variant::in_place_hazard && !code.has_barrier && code.threads > 1)
    in_halves_ = code.reads_own_output || overlaps(arguments);
  if (in_halves_) {
    first_half_ = second_half_ = everybody_;
    for (uint32_t t = 0; t < code.threads; ++t)
      (t < code.threads / 2 ? second_half_ : first_half_)[t] = 0;
  }
  prepare();
}

Interpreter::~Interpreter() {
  const std::lock_guard lock(code_.loops.mutex);
  for (const auto& [loop, ended] : ended_) code_.loops.ended[loop] = ended;
  for (uint32_t i = 0; i < code_.steps.size(); ++i) {
    const Step& step = code_.steps[i];
    for (size_t k = 3; step.quirk == Quirk::keeps_carry && k < step.operands.size(); ++k) {
      const uint32_t carry = i + static_cast<uint32_t>(k) - 2;
      code_.loops.carries[carry].assign(
          words(carry), words(carry) + size_t{code_.threads} * code_.steps[carry].lanes);
    }
  }
}

int64_t Interpreter::integer(uint32_t value, uint32_t thread, uint32_t lane) {
  const Step& step = code_.steps[value];
  const uint64_t bits = word(value, thread, lane);
  if (step.dtype == TN_DTYPE_I32) return static_cast<int32_t>(bits);
  if (step.dtype == TN_DTYPE_I64) return static_cast<int64_t>(bits);
  return static_cast<int64_t>(sdk::convert(bits, step.dtype, TN_DTYPE_I64));
}

void Interpreter::prepare() {
  const uint32_t* size = view_.header().workgroup;
  const uint32_t most = std::max(view_.header().subgroup_size, 1u);
  for (const Step& step : code_.steps) {
    uint64_t* out = words_.get() + step.value;
    const uint32_t count = code_.threads * step.lanes;
    if (step.op == TN_OP_CONST) std::fill_n(out, count, step.imm);
    if (step.op == TN_OP_PARAM) std::fill_n(out, count, bound_[step.imm].scalar);
    if (step.op != TN_OP_INDEX) continue;
    for (uint32_t e = 0; e < count; ++e) {
      const uint32_t thread = e / step.lanes;
      out[e] = step.imm == TN_AXIS_BLOCK_X         ? thread % size[0]
               : step.imm == TN_AXIS_BLOCK_Y       ? thread / size[0] % size[1]
               : step.imm == TN_AXIS_BLOCK_Z       ? thread / size[0] / size[1]
               : step.imm == TN_AXIS_LANE          ? e % step.lanes
               : step.imm == TN_AXIS_SUBGROUP      ? thread / most
               : step.imm == TN_AXIS_SUBGROUP_LANE ? thread % most
                                                   : 0;
    }
  }
}

void Interpreter::run_group(const uint32_t (&group)[3]) {
  std::copy_n(group, 3, group_);
  const auto last = static_cast<uint32_t>(code_.steps.size());
  for (const Step& step : code_.steps)
    if (step.op == TN_OP_INDEX && step.imm <= TN_AXIS_GRID_Z)
      std::fill_n(words_.get() + step.value, code_.threads * step.lanes, group_[step.imm]);
  pending_.clear();
  copies_.clear();
  groups_.clear();
  if (!in_halves_) {
    run(0, last, everybody_);
    return;
  }
  spills_wide_ = true;
  run(0, last, first_half_);
  spills_wide_ = false;
  run(0, last, second_half_);
}

void Interpreter::run(uint32_t first, uint32_t last, const Mask& mask) {
  for (uint32_t i = first; i < last; ++i) {
    const Step& step = code_.steps[i];
    switch (step.op) {
      case TN_OP_CONST:
      case TN_OP_PARAM:
      case TN_OP_INDEX:
      case TN_OP_CARRY:
        break;
      case TN_OP_LOOP:
        ++depth_;
        run_loop(i, mask);
        --depth_;
        i = step.closes;
        break;
      case TN_OP_IF: {
        ++depth_;
        const uint32_t condition = step.operands[0], other = step.closes;
        Mask yes = mask, no = mask;
        for (uint32_t t = 0; t < code_.threads; ++t) (word(condition, t, 0) ? no : yes)[t] = 0;
        if (code_.variant == Variant::inner_else_by_all && depth_ > 1) no = mask;
        if (any(yes)) run(i + 1, other, yes);
        i = code_.steps[other].closes;  // an END closes itself
        if (i != other && any(no)) run(other + 1, i, no);
        --depth_;
        break;
      }
      case TN_OP_TAKE:
        load(i, mask);
        break;
      case TN_OP_STORE:
        store(i, mask);
        break;
      case TN_OP_ATOMIC:
        atomic(i, mask);
        break;
      case TN_OP_BARRIER:
        if (code_.variant == Variant::subgroup_barrier_none && step.imm != TN_SCOPE_BLOCK) break;
        if (code_.variant == Variant::barrier_shared_alone) break;  // what is pending is not
        if (step.quirk != Quirk::no_barrier) pending_.clear();
        break;
      case TN_OP_ASYNC_COPY:
        copy_later(i, mask);
        break;
      case TN_OP_ASYNC_COMMIT:
        close_group();
        break;
      case TN_OP_ASYNC_WAIT:
        arrive(step.imm);
        break;
      case TN_OP_MATRIX_LOAD:
      case TN_OP_MATRIX_STORE:
        matrix_access(i, mask);
        break;
      case TN_OP_MATRIX_MULTIPLY:
        matrix_multiply(i, mask);
        break;
      default:
        if (step.lanes) compute(i);
    }
  }
}

bool Interpreter::reverses(const Step& step) const {
  return step.quirk == Quirk::backwards || (step.quirk == Quirk::every_second && odd_launch_);
}

uint64_t Interpreter::iterations_of(const Step& loop, uint32_t thread) {
  const uint64_t iterations =
      count_iterations(integer(loop.operands[0], thread), integer(loop.operands[1], thread),
                       integer(loop.operands[2], thread));
  if (loop.quirk == Quirk::short_count && iterations > 8) return iterations - iterations % 4;
  if (loop.quirk == Quirk::few_iterations)
    return std::min(iterations, static_cast<uint64_t>(loop.amount));
  return iterations;
}

void Interpreter::begin_carries(uint32_t loop, uint32_t carries) {
  const Step& step = code_.steps[loop];
  for (uint32_t k = 1; k <= carries; ++k) {
    const uint64_t* from = words(step.operands[2 + k]);
    const auto carried = code_.loops.carries.find(loop + k);
    if (step.quirk == Quirk::keeps_carry && carried != code_.loops.carries.end())
      from = carried->second.data();
    std::copy_n(from, code_.threads * code_.steps[loop + k].lanes, words(loop + k));
  }
}

void Interpreter::run_loop(uint32_t i, const Mask& outer) {
  const Step& loop = code_.steps[i];
  const uint32_t threads = code_.threads, last = loop.closes;
  const auto carries = static_cast<uint32_t>(loop.operands.size() - 3);
  const auto& next = code_.steps[last].operands;
  Mask mask = outer;
  std::vector<uint64_t> iterations(threads);
  uint64_t most = 0;
  for (uint32_t t = 0; t < threads; ++t) {
    if (!mask[t]) continue;
    iterations[t] = iterations_of(loop, t);
    most = std::max(most, iterations[t]);
  }
  begin_carries(i, carries);
  if (loop.quirk == Quirk::keeps_end && code_.loops.ended[i]) most = 0;
  const bool backwards = reverses(loop);
  const bool halves = loop.quirk == Quirk::halves && most > 1;
  std::vector<uint64_t> evens;
  for (uint64_t iteration = 0; iteration < most; ++iteration) {
    // Even iterations, then odd ones.
    const uint64_t even_iterations = (most + 1) / 2;
    const uint64_t k = !halves                       ? iteration
                       : iteration < even_iterations ? 2 * iteration
                                                     : 2 * (iteration - even_iterations) + 1;
    if (halves && iteration == even_iterations)
      for (uint32_t c = 1; c <= carries; ++c) {
        uint64_t* carry = words(i + c);
        const uint32_t count = threads * code_.steps[i + c].lanes;
        evens.insert(evens.end(), carry, carry + count);
        std::fill_n(carry, count, 0);
      }
    for (uint32_t t = 0; t < threads; ++t) {
      mask[t] = outer[t] && (halves || mask[t]) && k < iterations[t];
      if (!mask[t]) continue;
      const uint64_t place = backwards ? iterations[t] - 1 - k : k;
      const auto value = static_cast<uint64_t>(integer(loop.operands[0], t)) +
                         place * static_cast<uint64_t>(integer(loop.operands[2], t));
      word(i, t, 0) =
          loop.bytes == 4 || loop.quirk == Quirk::short_counter ? value & 0xffffffffu : value;
    }
    if (!any(mask)) break;
    run(i + 1 + carries, last, mask);
    std::vector<uint64_t> goes_on;  // of a while loop; may be a carry, so before they change
    if (next.size() > carries) goes_on.assign(words(next.back()), words(next.back()) + threads);
    next_iteration(i, mask);
    for (uint32_t t = 0; t < goes_on.size(); ++t) {
      if (mask[t] && !goes_on[t]) ended_[i] = true;
      mask[t] = mask[t] && goes_on[t];
    }
  }
  const uint64_t* from = evens.data();
  for (uint32_t c = 1; c <= carries && !evens.empty(); ++c) {
    const Step& carry = code_.steps[i + c];
    const auto sum = sdk::scalar_function(TN_OP_ADD, carry.dtype, carry.dtype);
    uint64_t* to = words(i + c);
    for (uint32_t e = 0; e < threads * carry.lanes; ++e, ++from)
      if (outer[e / carry.lanes]) to[e] = sum(*from, to[e], 0);
  }
}

/// The carried values of the next iteration; all are read before one is written.
void Interpreter::next_iteration(uint32_t loop, const Mask& mask) {
  const auto carries = static_cast<uint32_t>(code_.steps[loop].operands.size() - 3);
  const auto& next = code_.steps[code_.steps[loop].closes].operands;
  std::vector<uint64_t> fresh;
  for (uint32_t k = 0; k < carries; ++k)
    fresh.insert(fresh.end(), words(next[k]),
                 words(next[k]) + size_t{code_.threads} * code_.steps[loop + 1 + k].lanes);
  if (code_.variant == Variant::carries_in_turn) turn_in_place(loop, fresh);
  const uint64_t* from = fresh.data();
  for (uint32_t k = 0; k < carries; ++k) {
    const uint32_t lanes = code_.steps[loop + 1 + k].lanes;
    for (uint32_t t = 0; t < code_.threads; ++t, from += lanes)
      if (mask[t]) std::copy_n(from, lanes, words(loop + 1 + k) + size_t{t} * lanes);
  }
}

/// The last of a cycle of three or more finds what the first was overwritten with.
void Interpreter::turn_in_place(uint32_t loop, std::vector<uint64_t>& fresh) const {
  const auto carries = static_cast<uint32_t>(code_.steps[loop].operands.size() - 3);
  const auto& next = code_.steps[code_.steps[loop].closes].operands;
  const auto source = [&](uint32_t k) { return next[k] - loop - 1; };  // beyond them if none is
  for (uint32_t first = 0; first < carries; ++first) {
    uint32_t last = first, length = 1;
    while (source(last) < carries && source(last) != first && length <= carries)
      last = source(last), ++length;
    if (length < 3 || source(last) != first) continue;
    const auto part = [&](uint32_t k) {
      size_t begin = 0;
      for (uint32_t before = 0; before < k; ++before)
        begin += size_t{code_.threads} * code_.steps[loop + 1 + before].lanes;
      return fresh.begin() + static_cast<std::ptrdiff_t>(begin);
    };
    const size_t count = size_t{code_.threads} * code_.steps[loop + 1 + first].lanes;
    if (code_.steps[loop + 1 + last].lanes == code_.steps[loop + 1 + first].lanes)
      std::copy_n(part(first), count, part(last));
    return;
  }
}

void Interpreter::compute(uint32_t i) {
  const Step& step = code_.steps[i];
  uint64_t* out = words(i);
  const uint32_t count = code_.threads * step.lanes;
  const uint64_t* in[3] = {out, out, out};
  for (size_t k = 0; k < step.operands.size() && k < 3; ++k) in[k] = words(step.operands[k]);
  switch (step.op) {
    case TN_OP_BROADCAST:
      for (uint32_t e = 0; e < count; ++e) out[e] = in[0][e / step.lanes];
      return;
    case TN_OP_COMPOSE:
      for (uint32_t e = 0; e < count; ++e)
        out[e] = words(step.operands[e % step.lanes])[e / step.lanes];
      return;
    case TN_OP_EXTRACT:
      for (uint32_t e = 0; e < count; ++e)
        out[e] = word(step.operands[0], e, static_cast<uint32_t>(step.imm));
      return;
    case TN_OP_LANE_REDUCE:
      reduce_lanes(step);
      return;
    case TN_OP_SUBGROUP_SHUFFLE:
    case TN_OP_SUBGROUP_REDUCE:
    case TN_OP_SUBGROUP_BROADCAST:
      exchange(i);
      return;
    case TN_OP_DOT:
      dot(i);
      return;
    default:
      break;
  }
  if (step.quirk == Quirk::fuse) {
    const Step& product = code_.steps[step.other];
    const uint64_t *x = words(product.operands[0]), *y = words(product.operands[1]);
    const uint64_t* z = words(static_cast<uint32_t>(step.amount));
    for (uint32_t e = 0; e < count; ++e) out[e] = fused(step.dtype, x[e], y[e], z[e]);
    return;
  }
  if (step.quirk == Quirk::mask_in_halves) {
    for (uint32_t e = 0; e < count; ++e) {
      const uint32_t quarter = e % 16 / 4, other = quarter == 1 ? 2 : quarter == 2 ? 1 : quarter;
      out[e] = step.function(in[0][e / 16 * 16 + other * 4 + e % 4], in[1][e], in[2][e]);
    }
    return;
  }
  if (step.quirk == Quirk::bf16_sum) {
    for (uint32_t e = 0; e < count; ++e) out[e] = add_in_bf16(in[0][e], in[1][e]);
    return;
  }
  const sdk::ScalarFunction function = step.function;
  if (!function)
    throw sdk::Failure(TN_ERROR_INTERNAL, "op " + std::to_string(i) + " means nothing");
  for (uint32_t e = 0; e < count; ++e) out[e] = function(in[0][e], in[1][e], in[2][e]);
}

void Interpreter::reduce_lanes(const Step& step) {
  const uint32_t lanes = code_.steps[step.operands[0]].lanes;
  const auto combine = [&](uint64_t a, uint64_t b) {
    return step.quirk == Quirk::bf16_sum ? add_in_bf16(a, b) : step.function(a, b, 0);
  };
  std::vector<uint64_t> parts(lanes);
  for (uint32_t t = 0; t < code_.threads; ++t) {
    for (uint32_t k = 0; k < lanes; ++k) parts[k] = word(step.operands[0], t, k);
    if (reverses(step)) std::ranges::reverse(parts);
    if (step.quirk == Quirk::halves)
      for (uint32_t live = lanes; live > 1; live = (live + 1) / 2)
        for (uint32_t k = (live + 1) / 2; k < live; ++k)
          parts[k - (live + 1) / 2] = combine(parts[k - (live + 1) / 2], parts[k]);
    else
      for (uint32_t k = 1; k < lanes; ++k) parts[0] = combine(parts[0], parts[k]);
    words_[step.value + t] = parts[0];
  }
}

/// What threads of a subgroup exchange.
void Interpreter::exchange(uint32_t i) {
  const Step& step = code_.steps[i];
  const bool is_wide = code_.variant == Variant::reduce_workgroup;
  const uint32_t size = view_.header().subgroup_size;
  const uint32_t most = is_wide && step.op == TN_OP_SUBGROUP_REDUCE ? code_.threads : size;
  const bool is_first = code_.variant == Variant::shuffle_in_region && depth_ > 0;
  const auto combine =
      sdk::scalar_function(static_cast<uint16_t>(step.imm), step.dtype, step.dtype);
  for (uint32_t t = 0; t < code_.threads; ++t) {
    const uint32_t first = t / most * most;
    for (uint32_t l = 0; l < step.lanes; ++l) {
      const uint32_t from = code_.variant == Variant::exchange_first_lane ? 0 : l;
      uint64_t& out = word(i, t, l);
      if (step.op == TN_OP_SUBGROUP_REDUCE) {
        out = word(step.operands[0], first, from);
        for (uint32_t k = 1; k < most; ++k)
          out = combine(out, word(step.operands[0], first + k, from), 0);
        continue;
      }
      const bool is_broadcast = step.op == TN_OP_SUBGROUP_BROADCAST;
      uint64_t lane = is_broadcast ? step.imm : word(step.operands[1], t, 0);
      if (is_broadcast && code_.variant == Variant::broadcast_of_8) lane %= 8;
      out =
          word(step.operands[0], static_cast<uint32_t>((is_first ? 0 : first) + lane % size), from);
    }
  }
}

}  // namespace tenon::planted
