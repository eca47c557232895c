// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads, stores and atomics, and what the variants do to them.
#include <algorithm>
#include <cstring>

#include "conformance/selftest/plugin/interpreter.hpp"

namespace tenon::planted {
namespace {

constexpr uint32_t kWave = 8;  ///< threads that see each other's writes without a barrier
constexpr uint64_t kVector = 4;
constexpr uint64_t kNoIndex = ~uint64_t{0};

uint64_t read(const std::byte* at, uint64_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}

}  // namespace

std::span<std::byte> Interpreter::memory(uint32_t param_value, uint32_t thread) {
  const uint64_t param = code_.steps[param_value].imm;
  const sdk::HostArgument& bound = bound_[param];
  return {bound.data + (is_private_[param] ? thread * bound.size : 0), bound.size};
}

void Interpreter::outside(uint32_t i) const {
  throw sdk::Failure(TN_ERROR_INTERNAL, "op " + std::to_string(i) + ": index outside memory");
}

void Interpreter::load(uint32_t i, const Mask& mask) {
  const Step& step = code_.steps[i];
  const uint64_t bytes = step.bytes;
  const bool is_run = code_.steps[step.operands[1]].lanes == 1;  // of consecutive elements
  const bool guarded = step.operands.size() > 2;
  if (step.quirk == Quirk::takes_value) {
    for (uint32_t t = 0; t < code_.threads; ++t)
      if (mask[t]) word(i, t, 0) = word(step.other, t, static_cast<uint32_t>(step.amount));
    return;
  }
  uint64_t before = kNoIndex;
  for (uint32_t t = 0; t < code_.threads; ++t) {
    if (!mask[t]) continue;
    const std::span<std::byte> room = memory(step.operands[0], t);
    for (uint32_t lane = 0; lane < step.lanes; ++lane) {
      if (guarded && !word(step.operands[2], t, lane)) {
        word(i, t, lane) = masked_off(step, t, lane);
        continue;
      }
      auto index = static_cast<uint64_t>(integer(step.operands[1], t, lane) + (is_run ? lane : 0));
      if (step.quirk != Quirk::none) {
        const uint64_t asked = index;
        index = quirky_index(step, index, t, room.size() / bytes, before);
        before = asked;
      }
      if (index >= room.size() / bytes) outside(i);
      const std::byte* at = room.data() + index * bytes;
      uint64_t value = read(at, bytes);
      if (const auto kept = unlike_.find(code_.steps[step.operands[0]].imm); kept != unlike_.end())
        value = read(kept->second.data() + index * bytes, bytes);
      if (!pending_.empty()) value = visible(at, value, t);
      word(i, t, lane) = value;
    }
  }
}

uint64_t Interpreter::quirky_index(const Step& step, uint64_t index, uint32_t thread,
                                   uint64_t count, uint64_t before) {
  switch (step.quirk) {
    case Quirk::shift_index:
      return static_cast<uint64_t>(std::max<int64_t>(0, static_cast<int64_t>(index) + step.amount));
    case Quirk::short_stride:
      return index - static_cast<uint64_t>(integer(step.other, thread));
    case Quirk::wrap_index:
      return index % static_cast<uint64_t>(step.amount);
    case Quirk::far_distance: {
      const uint64_t at = index + static_cast<uint64_t>(step.amount);
      return at % count;
    }
    case Quirk::shared_neighbour:
      return index == before && index + 1 < count ? index + 1 : index;
    default:
      return index;
  }
}

uint64_t Interpreter::masked_off(const Step& step, uint32_t thread, uint32_t lane) {
  const uint64_t fill = step.operands.size() > 3 ? word(step.operands[3], thread, lane) : 0;
  if (step.quirk == Quirk::zero_fill) return 0;
  if (step.quirk != Quirk::read_padding) return fill;
  const bool is_run = code_.steps[step.operands[1]].lanes == 1;
  const int64_t index = integer(step.operands[1], thread, lane) + (is_run ? lane : 0);
  const std::span<std::byte> room = memory(step.operands[0], thread);
  const auto reach = static_cast<int64_t>(kSlack / step.bytes);
  const auto count = static_cast<int64_t>(room.size() / step.bytes);
  if (room.empty() || index < -reach || index >= count + reach) return fill;
  return read(room.data() + index * step.bytes, step.bytes);
}

/// Of a store: nothing is written by this workgroup.
bool Interpreter::skips(const Step& step, const Mask& mask) {
  if (step.quirk != Quirk::skip_tail || step.operands.size() < 4) return false;
  if (grid_[0] < 2 || group_[0] + 1 != grid_[0]) return false;
  for (uint32_t t = 0; t < code_.threads; ++t)
    for (uint32_t lane = 0; lane < code_.steps[step.operands[2]].lanes; ++lane)
      if (mask[t] && !word(step.operands[3], t, lane)) return true;
  return false;
}

void Interpreter::store(uint32_t i, const Mask& mask) {
  const Step& step = code_.steps[i];
  if (step.quirk != Quirk::none && skips(step, mask)) return;
  uint32_t lanes = code_.steps[step.operands[2]].lanes;
  if (step.quirk == Quirk::few_lanes) lanes = std::min(lanes, static_cast<uint32_t>(step.amount));
  const uint64_t bytes = step.bytes;
  const bool is_run = code_.steps[step.operands[1]].lanes == 1;
  const bool guarded = step.operands.size() > 3;
  const bool is_alone = sees_itself_alone();
  const bool is_pending = (code_.variant == Variant::missing_barrier || is_alone) &&
                          step.global == (code_.variant == Variant::barrier_shared_alone);
  const bool spills = step.global && (step.quirk != Quirk::none || spills_wide_);
  const auto end = std::find(mask.rbegin(), mask.rend(), 1);
  const auto last = static_cast<uint32_t>(mask.rend() - end) - 1;
  for (uint32_t t = 0; t <= last; ++t) {
    if (!mask[t] || (step.quirk == Quirk::lose_last && t == last)) continue;
    const std::span<std::byte> room = memory(step.operands[0], t);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      if (guarded && !word(step.operands[3], t, lane)) continue;
      const auto index =
          static_cast<uint64_t>(integer(step.operands[1], t, lane) + (is_run ? lane : 0));
      if (index >= room.size() / bytes) outside(i);
      std::byte* at = room.data() + index * bytes;
      const uint64_t value = word(step.operands[2], t, lane);
      if (is_pending) pending_.push_back({at, read(at, bytes), is_alone ? t : t / kWave});
      std::memcpy(at, &value, bytes);
      if (spills) spill(step, room, index, value);
    }
  }
}

void Interpreter::spill(const Step& step, std::span<std::byte> room, uint64_t index,
                        uint64_t value) {
  const uint64_t count = room.size() / step.bytes;
  const auto put = [&](uint64_t at) {
    std::memcpy(room.data() + at * step.bytes, &value, step.bytes);
  };
  if (step.quirk == Quirk::spill_after && count % kVector != 0 && index + 1 == count) put(count);
  if (step.quirk == Quirk::spill_before && step.bytes == 1 && index == 0)
    *(room.data() - 1) = std::byte{0};
  if (spills_wide_)
    for (uint64_t k = 1; k < kVector && index + k < count; ++k) put(index + k);
}

bool Interpreter::sees_itself_alone() const {
  return code_.variant == Variant::subgroup_barrier_none ||
         code_.variant == Variant::barrier_shared_alone;
}

void Interpreter::keep_unlike() {
  for (uint32_t i = 0; i < view_.param_count(); ++i) {
    const auto stores_to = [&](const Step& step) {
      return (step.op == TN_OP_STORE || step.op == TN_OP_ATOMIC) &&
             code_.steps[step.operands[0]].imm == i;
    };
    const sdk::HostArgument& own = bound_[i];
    if (view_.param(i).kind != TN_PARAM_BUFFER || std::ranges::any_of(code_.steps, stores_to))
      continue;
    for (uint32_t k = 0; k < view_.param_count(); ++k) {
      const sdk::HostArgument& other = bound_[k];
      if (view_.param(k).kind == TN_PARAM_BUFFER && view_.param(k).dtype != view_.param(i).dtype &&
          own.data < other.data + other.size && other.data < own.data + own.size)
        unlike_[i].assign(own.data, own.data + own.size);
    }
  }
}

/// What a thread sees of shared memory that others wrote to since the last barrier.
uint64_t Interpreter::visible(const std::byte* at, uint64_t now, uint32_t thread) const {
  for (size_t k = pending_.size(); k-- > 0;)
    if (pending_[k].at == at) {
      const bool is_alone = sees_itself_alone();
      return pending_[k].wave == (is_alone ? thread : thread / kWave) ? now : pending_[k].before;
    }
  return now;
}

/// What a variant leaves in memory.
uint64_t Interpreter::combine(uint32_t i, uint64_t old, uint64_t value, uint64_t wanted) const {
  tn_op op = view_.op(i);
  const uint64_t way = op.imm & 0xff, sum = old + value, low = UINT32_MAX;
  const bool is_wide = sdk::dtype_bytes(op.dtype) == 8;
  if (code_.variant == Variant::atomic_unsigned && is_wide) op.dtype = TN_DTYPE_I64;
  if (code_.variant == Variant::atomic_compare_32 && is_wide && way == TN_ATOMIC_COMPARE_EXCHANGE)
    return (old & low) == (wanted & low) ? value : old;
  const bool is_carry_lost = code_.variant == Variant::atomic_add_32 ||
                             (code_.variant == Variant::shared_carry && !code_.steps[i].global);
  if (is_carry_lost && is_wide && way == TN_ATOMIC_ADD)
    return ((old & ~low) + (value & ~low)) | (sum & low);
  if (code_.variant == Variant::atomic_float_bits && op.dtype == TN_DTYPE_F32 &&
      (way == TN_ATOMIC_MIN || way == TN_ATOMIC_MAX))
    op.dtype = TN_DTYPE_I32;
  return sdk::apply_atomic(op, old, value, wanted);
}

void Interpreter::atomic(uint32_t i, const Mask& mask) {
  const Step& step = code_.steps[i];
  const auto absent = static_cast<uint64_t>(std::ranges::count(mask, 0));
  const bool is_equal = code_.steps[step.operands[2]].op == TN_OP_CONST;
  bool is_counted = code_.variant != Variant::atomic_equal_whole || !is_equal || !step.global ||
                    (step.imm & 0xff) != TN_ATOMIC_ADD;
  for (uint32_t t = 0; t < code_.threads; ++t) {
    if (!mask[t]) continue;
    const std::span<std::byte> room = memory(step.operands[0], t);
    for (uint32_t lane = 0; lane < step.lanes; ++lane) {
      const auto index = static_cast<uint64_t>(integer(step.operands[1], t, lane));
      if (index >= room.size() / step.bytes) outside(i);
      std::byte* at = room.data() + index * step.bytes;
      const uint64_t old = read(at, step.bytes);
      const uint64_t wanted = step.operands.size() > 3 ? word(step.operands[3], t, lane) : 0;
      uint64_t operand = word(step.operands[2], t, lane);
      // One atomic for all: those that are not there count too.
      if (!is_counted) operand *= 1 + absent;
      is_counted = true;
      const uint64_t value = combine(i, old, operand, wanted);
      std::memcpy(at, &value, step.bytes);
      word(i, t, lane) = code_.variant == Variant::atomic_old_32 ? old & UINT32_MAX : old;
    }
  }
}

/// Two buffers of the launch share bytes.
bool Interpreter::overlaps(std::span<const sdk::HostArgument> arguments) const {
  for (size_t a = 0; a < arguments.size(); ++a)
    for (size_t b = 0; b < a; ++b)
      if (arguments[a].size && arguments[b].size &&
          arguments[a].data < arguments[b].data + arguments[b].size &&
          arguments[b].data < arguments[a].data + arguments[a].size)
        return true;
  return false;
}

}  // namespace tenon::planted
