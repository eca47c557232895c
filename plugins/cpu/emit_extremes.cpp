// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MAX and MIN carried by a loop. A step that propagates NaN is a chain of dependent instructions.
// So the loop uses one instruction that ignores NaN, and records in a second carry whether a NaN
// occurred.
#include <algorithm>
#include <span>

#include "plugins/cpu/emit_avx512.hpp"
#include "plugins/cpu/emitter.hpp"

namespace tenon::cpu {

using llvm::Value;

void Emitter::find_extremes() {
  extremes_.assign(program_.op_count(), kNone);
  if (!options_.avx512) return;
  const std::vector<uint32_t> closes = sdk::region_closes(program_);
  std::vector<uint32_t> uses(program_.op_count());
  for (uint32_t i = 0; i < program_.op_count(); ++i)
    for (const uint32_t v : program_.operands(program_.op(i))) ++uses[v];
  for (uint32_t i = 0; i < program_.op_count(); ++i) {
    if (program_.op(i).op != TN_OP_LOOP) continue;
    const std::span<const uint32_t> next = program_.operands(program_.op(closes[i]));
    const size_t carried = program_.operands(program_.op(i)).size() - 3;
    for (uint32_t c = 0; c < carried; ++c) {
      const uint32_t carry = i + 1 + c, step = next[c];
      const tn_op& op = program_.op(step);
      if ((op.op != TN_OP_MAX && op.op != TN_OP_MIN) || uses[step] != 1 ||
          dtype_class(static_cast<tn_dtype>(op.dtype)) != DTypeClass::kFloat)
        continue;
      // Only the step may use the carried value within the loop.
      uint32_t used = 0;
      for (uint32_t j = carry; j <= closes[i]; ++j)
        used += static_cast<uint32_t>(std::ranges::count(program_.operands(program_.op(j)), carry));
      if (used != 1 || std::ranges::count(program_.operands(op), carry) != 1) continue;
      extremes_[carry] = step;
      extremes_[step] = carry;
    }
  }
}

Value* Emitter::emit_running_extreme(uint32_t i) {
  const tn_op& op = program_.op(i);
  Carry& carry = regions_.back().carries[program_.op(extremes_[i]).imm];
  Value* x = operand(op, program_.operands(op)[0] == extremes_[i] ? 1 : 0);
  carry.next_nan = builder_.CreateOr(carry.nan, builder_.CreateFCmpUNO(x, x));
  return emit_extreme_number(builder_, op.op == TN_OP_MAX, carry.value, x);
}

}  // namespace tenon::cpu
