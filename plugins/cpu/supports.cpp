// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/supports.hpp"

#include <fmt/format.h>

namespace tenon::cpu {
namespace {

constexpr uint32_t kMaxLanes = 256;
constexpr uint64_t kMaxAllocation = uint64_t{256} << 20;  // bytes of one thread

std::string unsupported_op(const tn_op& op) {
  if (op.lanes > kMaxLanes)
    return fmt::format("expected at most {} lanes, got {}", kMaxLanes, op.lanes);
  if (op.op >= TN_OP_VENDOR) return "expected an op of version 1";
  switch (static_cast<unsigned>(op.op)) {
    case TN_OP_INDEX:
      if (op.imm > TN_AXIS_LANE && op.imm != TN_AXIS_CPU_THREAD)
        return fmt::format("expected a grid, block, lane or thread axis, got axis {}", op.imm);
      return {};
    case TN_OP_LANE_REDUCE:
      switch (op.imm) {
        case TN_OP_ADD:
        case TN_OP_MUL:
        case TN_OP_MAX:
        case TN_OP_MIN:
        case TN_OP_AND:
        case TN_OP_OR:
        case TN_OP_XOR:
          return {};
        default:
          return fmt::format("expected to combine by add, mul or max, got op {}", op.imm);
      }
    default:
      return {};
  }
}

}  // namespace

std::string unsupported(const sdk::ProgramView& program) {
  uint64_t allocated = 0;
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    const tn_param& param = program.param(i);
    if (param.kind != TN_PARAM_ALLOC) continue;
    if (param.space == TN_SPACE_FRAGMENT || param.space == TN_SPACE_CLUSTER)
      return fmt::format("param {}: expected shared, register or scratch space, got {}",
                         program.string(param.name), param.space);
    if (param.alignment > 4096)
      return fmt::format("param {}: expected an alignment of at most 4096, got {}",
                         program.string(param.name), param.alignment);
    const uint64_t size = sdk::dtype_bytes(static_cast<uint8_t>(param.dtype));
    if (param.count > kMaxAllocation / size || (allocated += param.count * size) > kMaxAllocation)
      return fmt::format("param {}: expected at most {} bytes of allocations",
                         program.string(param.name), kMaxAllocation);
  }
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    if (const std::string why = unsupported_op(op); !why.empty())
      return fmt::format("op {} {}: {}", i, sdk::op_text(op.op), why);
  }
  return {};
}

}  // namespace tenon::cpu
