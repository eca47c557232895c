// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/program/dot.hpp"

#include <fmt/format.h>

#include "sdk/program/dtype_info.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/verify_operands.hpp"

namespace tenon::sdk {

std::string check_dot(const ProgramView& program, const tn_op& op) {
  constexpr uint32_t kMost = 16;
  if (op.imm) return fmt::format("expected imm 0, got {}", op.imm);
  if (auto e = expect_operand(program, op, 2, op.dtype, op.lanes); !e.empty()) return e;
  const uint32_t group = dot_neighbours(program, op);
  if (group < 2 || group > kMost || (group & (group - 1)) != 0)
    return fmt::format("expected 2, 4, 8 or 16 neighbours, got {}", group);
  bool whole = false;
  for (uint32_t k = 0; k < 2; ++k) {
    const tn_op& factor = program.op(program.operands(op)[k]);
    if (factor.lanes != group * op.lanes && factor.lanes != group)
      return fmt::format("expected {} or {} lanes of %{}, got {}", group, group * op.lanes,
                         program.operands(op)[k], factor.lanes);
    whole |= factor.lanes == group * op.lanes;
    if (!takes(OpTypes::NUM, factor.dtype) || is_float(factor.dtype) != is_float(op.dtype) ||
        dtype_bytes(factor.dtype) >= dtype_bytes(op.dtype))
      return fmt::format("expected factors that are narrower than {}, got {}", dtype_text(op.dtype),
                         dtype_text(factor.dtype));
  }
  return whole ? std::string() : fmt::format("expected a factor of {} lanes", group * op.lanes);
}

}  // namespace tenon::sdk
