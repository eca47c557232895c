// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/selftest/plugin/code.hpp"

#include "conformance/selftest/plugin/arithmetic.hpp"
#include "conformance/selftest/plugin/rewrites.hpp"

namespace tenon::planted {
namespace {

constexpr uint64_t kHangs = 65;  ///< elements

/// The operand, or a value of its kind that is nearer.
uint32_t operand_in_15_bits(const sdk::ProgramView& program, uint32_t op, uint32_t operand) {
  const uint32_t other = op - ((op - operand) & 0x7fff);
  if (other == op) return operand;
  const tn_op &meant = program.op(operand), &found = program.op(other);
  return found.dtype == meant.dtype && found.lanes == meant.lanes ? other : operand;
}

bool is_memory(uint16_t op) {
  return op == TN_OP_TAKE || op == TN_OP_STORE || op == TN_OP_ATOMIC || op == TN_OP_MATRIX_LOAD ||
         op == TN_OP_MATRIX_STORE || op == TN_OP_ASYNC_COPY;
}

}  // namespace

Code::Code(Variant which, sdk::Program source)
    : variant(which), program(std::move(source)), places(sdk::allocation_places(program.view())) {
  const sdk::ProgramView v = view();
  const std::vector<uint32_t> closes = sdk::region_closes(v);
  for (const uint32_t axis : v.header().workgroup) threads *= axis;
  for (uint32_t i = 0; i < v.op_count(); ++i) {
    const tn_op& op = v.op(i);
    const auto operands = v.operands(op);
    Step step;
    step.op = op.op;
    step.dtype = op.dtype;
    const tn_op& sized = is_memory(op.op) ? v.op(operands[0]) : op;
    step.bytes = static_cast<uint8_t>(sdk::dtype_bytes(sized.dtype));
    if (is_memory(op.op))
      step.global = v.param(static_cast<uint32_t>(sized.imm)).kind == TN_PARAM_BUFFER;
    step.lanes = op.lanes;
    step.closes = closes[i];
    step.imm = op.imm;
    step.value = value_count;
    step.function = function_of(variant, v, op, sdk::scalar_function(v, op));
    step.operands.assign(operands.begin(), operands.end());
    if (variant == Variant::operand_15 && step.function)
      for (uint32_t& operand : step.operands) operand = operand_in_15_bits(v, i, operand);
    value_count += size_t{threads} * op.lanes;
    has_barrier |= op.op == TN_OP_BARRIER;
    steps.push_back(std::move(step));
  }
  for (uint32_t i = 0; i < v.param_count(); ++i) {
    const tn_param& param = v.param(i);
    if (param.kind != TN_PARAM_BUFFER) continue;
    all_single &= param.count == 1;
    hangs |= variant == Variant::hang_on_shape && param.count == kHangs;
    constexpr uint32_t kBoth = TN_ACCESS_READ | TN_ACCESS_WRITE;
    reads_own_output |= (param.access & kBoth) == kBoth;
  }
  mark(*this);
  rewrite(*this);
  forward(*this);
}

}  // namespace tenon::planted
