// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/programs/stand_ins.hpp"

#include <fmt/format.h>

#include <set>

#include "sdk/program/op_info.hpp"
#include "sdk/program/verify.hpp"

namespace tenon::conformance::abi::programs {
namespace {

constexpr struct {
  tn_opcode op, stand_in;
} kStandIns[] = {{TN_OP_SUB, TN_OP_ADD},    {TN_OP_MIN, TN_OP_MAX},     {TN_OP_FDIV, TN_OP_MUL},
                 {TN_OP_FMA, TN_OP_MUL},    {TN_OP_CMPEQ, TN_OP_CMPNE}, {TN_OP_SHL, TN_OP_XOR},
                 {TN_OP_SHR, TN_OP_AND},    {TN_OP_NEG, TN_OP_CAST},    {TN_OP_TRUNC, TN_OP_CAST},
                 {TN_OP_FLOOR, TN_OP_CAST}, {TN_OP_EXP, TN_OP_EXP2},    {TN_OP_LN, TN_OP_LOG2},
                 {TN_OP_COS, TN_OP_SIN}};

}  // namespace

StandIns with_stand_ins(const sdk::ProgramView& program,
                        const std::function<bool(tn_opcode)>& claims) {
  StandIns out{sdk::Program(program), {}};
  std::set<std::string> changes;
  for (uint32_t i = 0; i < program.op_count(); ++i)
    for (const auto& row : kStandIns) {
      auto& op = const_cast<tn_op&>(out.program.view().op(i));
      if (op.op != row.op || claims(row.op)) continue;
      changes.insert(fmt::format("{} for {}", sdk::op_text(row.stand_in), sdk::op_text(row.op)));
      op.op = row.stand_in;
      op.operand_count = static_cast<uint16_t>(sdk::op_info(row.stand_in)->arity);
    }
  if (changes.empty() || !sdk::verify_program(out.program.get(), out.program.size()).empty())
    return {};
  for (const std::string& change : changes)
    out.changes += (out.changes.empty() ? "" : ", ") + change;
  return out;
}

}  // namespace tenon::conformance::abi::programs
