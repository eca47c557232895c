// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/shrink/draft.hpp"

#include <algorithm>

#include "sdk/program/verify.hpp"

namespace tenon::conformance::shrink {

Draft::Draft(const sdk::ProgramView& program)
    : name_(program.name()), subgroup_(program.header().subgroup_size) {
  const std::vector<uint32_t> closes = sdk::region_closes(program);
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    const auto operands = program.operands(op);
    ops.push_back({op, {operands.begin(), operands.end()}, false, closes[i]});
  }
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    params.push_back(program.param(i));
    names_.emplace_back(program.string(program.param(i).name));
  }
  std::copy_n(program.header().workgroup, 3, workgroup);
}

void Draft::replace(uint32_t from, uint32_t to, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < std::min<size_t>(last, ops.size()); ++i)
    if (ops[i].op.op != TN_OP_CARRY) std::ranges::replace(ops[i].operands, from, to);
}

void Draft::make_constant(uint32_t i, uint64_t bits) {
  Op& op = ops[i];
  op.op.op = TN_OP_CONST;
  op.op.imm = bits;
  op.op.flags = 0;
  op.operands.clear();
}

void Draft::drop_region(uint32_t opener) {
  uint32_t close = ops[opener].closes;
  if (ops[close].op.op == TN_OP_ELSE) close = ops[close].closes;
  for (uint32_t k = 3; k < ops[opener].operands.size(); ++k)
    replace(opener + k - 2, ops[opener].operands[k]);
  for (uint32_t i = opener; i <= close; ++i) ops[i].is_gone = true;
}

void Draft::unwrap(uint32_t opener) {
  const uint32_t close = ops[opener].closes;
  if (ops[close].op.op == TN_OP_ELSE) {
    for (uint32_t i = close; i < ops[close].closes; ++i) ops[i].is_gone = true;
    ops[ops[close].closes].is_gone = true;
  }
  if (ops[opener].op.op == TN_OP_LOOP) {
    replace(opener, ops[opener].operands[0]);
    for (uint32_t k = 3; k < ops[opener].operands.size(); ++k) {
      const uint32_t carry = opener + k - 2;
      replace(carry, ops[opener].operands[k], 0, close + 1);
      replace(carry, ops[close].operands[k - 3], close + 1);
      ops[carry].is_gone = true;
    }
  }
  ops[opener].is_gone = ops[close].is_gone = true;
}

void Draft::drop_carry(uint32_t loop, uint32_t number) {
  const uint32_t carry = loop + 1 + number, close = ops[loop].closes;
  uint32_t place = 0;  // among those that are still there
  for (uint32_t i = loop + 1; i < carry; ++i) place += !ops[i].is_gone;
  replace(carry, ops[loop].operands[3 + place]);
  ops[loop].operands.erase(ops[loop].operands.begin() + 3 + place);
  ops[close].operands.erase(ops[close].operands.begin() + place);
  ops[carry].is_gone = true;
}

void Draft::drop_unused() {
  std::vector<uint8_t> is_used(ops.size());
  for (auto i = static_cast<uint32_t>(ops.size()); i-- > 0;) {
    Op& op = ops[i];
    const bool acts = op.op.lanes == 0 || op.op.op == TN_OP_LOOP || op.op.op == TN_OP_CARRY ||
                      op.op.op == TN_OP_ATOMIC;
    if (!acts && !is_used[i]) op.is_gone = true;
    if (op.is_gone) continue;
    for (const uint32_t operand : op.operands) is_used[operand] = 1;
  }
}

std::optional<sdk::Program> Draft::finish() {
  drop_unused();
  sdk::ProgramBuilder builder(name_);
  builder.workgroup(workgroup[0], workgroup[1], workgroup[2]);
  if (subgroup_) builder.subgroup(subgroup_);
  std::vector<uint32_t> numbers(ops.size(), UINT32_MAX);
  uint32_t carry = 0;  // the next one of its loop
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    if (op.is_gone) continue;
    std::vector<uint32_t> operands;
    for (const uint32_t operand : op.operands) {
      if (numbers[operand] == UINT32_MAX) return std::nullopt;
      operands.push_back(numbers[operand]);
    }
    if (op.op.op == TN_OP_PARAM) {
      const tn_param& p = params[op.op.imm];
      const std::string& name = names_[op.op.imm];
      const auto dtype = static_cast<tn_dtype>(p.dtype);
      const auto space = static_cast<tn_space>(p.space);
      if (p.kind == TN_PARAM_BUFFER)
        numbers[i] = builder.buffer(name, dtype, p.access, p.count, p.alignment, space);
      else if (p.kind == TN_PARAM_SCALAR)
        numbers[i] = builder.scalar(name, dtype, p.minimum, p.maximum);
      else
        numbers[i] = builder.allocate(name, dtype, space, p.count, p.alignment);
      continue;
    }
    carry = op.op.op == TN_OP_LOOP ? 0 : carry;
    const uint64_t imm = op.op.op == TN_OP_CARRY ? carry++ : op.op.imm;
    numbers[i] = builder.op(static_cast<tn_opcode>(op.op.op), static_cast<tn_dtype>(op.op.dtype),
                            op.op.lanes, operands, imm, op.op.flags);
  }
  sdk::Program program = builder.finish();
  if (!sdk::verify_program(program.get(), program.size()).empty()) return std::nullopt;
  return program;
}

}  // namespace tenon::conformance::shrink
