// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/lane_index.hpp"

#include "plugins/cpu/types.hpp"

namespace tenon::cpu {
namespace {

int64_t signed_bits(const tn_op& constant) {
  const uint32_t unused = 64 - dtype_bits(static_cast<tn_dtype>(constant.dtype));
  return static_cast<int64_t>(constant.imm << unused) >> unused;
}

std::optional<LaneIndex> sum(const LaneIndex& x, const LaneIndex& y) {
  LaneIndex out;
  if (x.base != LaneIndex::kNone && y.base != LaneIndex::kNone) return std::nullopt;
  out.base = x.base != LaneIndex::kNone ? x.base : y.base;
  if (__builtin_add_overflow(x.offset, y.offset, &out.offset) ||
      __builtin_add_overflow(x.stride, y.stride, &out.stride))
    return std::nullopt;
  return out;
}

std::optional<LaneIndex> product(const LaneIndex& x, const LaneIndex& y) {
  const LaneIndex& factor = y.stride == 0 ? y : x;
  const LaneIndex& other = y.stride == 0 ? x : y;
  LaneIndex out;
  if (factor.stride != 0 || factor.base != LaneIndex::kNone || other.base != LaneIndex::kNone ||
      __builtin_mul_overflow(other.offset, factor.offset, &out.offset) ||
      __builtin_mul_overflow(other.stride, factor.offset, &out.stride))
    return std::nullopt;
  return out;
}

}  // namespace

std::optional<LaneIndex> lane_index(const sdk::ProgramView& program, uint32_t value) {
  const tn_op& op = program.op(value);
  const auto operands = program.operands(op);
  switch (static_cast<unsigned>(op.op)) {
    case TN_OP_CONST:
      return LaneIndex{LaneIndex::kNone, signed_bits(op), 0};
    case TN_OP_BROADCAST:
      return LaneIndex{operands[0], 0, 0};
    case TN_OP_INDEX:
      if (op.imm != TN_AXIS_LANE) return std::nullopt;
      return LaneIndex{LaneIndex::kNone, 0, 1};
    case TN_OP_ADD:
    case TN_OP_MUL: {
      if (!(op.flags & TN_OP_NO_WRAP)) return std::nullopt;
      const auto x = lane_index(program, operands[0]), y = lane_index(program, operands[1]);
      if (!x || !y) return std::nullopt;
      return op.op == TN_OP_ADD ? sum(*x, *y) : product(*x, *y);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace tenon::cpu
