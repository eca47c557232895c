// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maxima and minima that a loop carries. One step that keeps NaN is a chain of several
// instructions, each waiting for the one before; of numbers alone it is one, and whether a NaN came
// by is gathered beside it.
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
      // In the loop the value so far is known to nothing but the step.
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
