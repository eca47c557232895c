// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/program/verify_operands.hpp"

#include <fmt/format.h>

namespace tenon::sdk {

bool is_memory(const ProgramView& program, uint32_t value) {
  const tn_op& op = program.op(value);
  return op.op == TN_OP_PARAM &&
         program.param(static_cast<uint32_t>(op.imm)).kind != TN_PARAM_SCALAR;
}

bool takes_memory(uint16_t op, size_t k) {
  if (op == TN_OP_ASYNC_COPY) return k == 0 || k == 2;
  return k == 0 && (op == TN_OP_TAKE || op == TN_OP_STORE || op == TN_OP_ATOMIC ||
                    op == TN_OP_MATRIX_LOAD || op == TN_OP_MATRIX_STORE);
}

std::string expect_operand(const ProgramView& program, const tn_op& op, uint32_t k, uint8_t dtype,
                           uint32_t lanes) {
  const tn_op& from = program.op(program.operands(op)[k]);
  if (from.dtype == dtype && from.lanes == lanes) return {};
  return fmt::format("expected {}x{} as operand {}, got {}x{}", dtype_text(dtype), lanes, k,
                     dtype_text(from.dtype), from.lanes);
}

std::string expect_counter(const ProgramView& program, const tn_op& op, uint32_t k) {
  const tn_op& from = program.op(program.operands(op)[k]);
  if (is_counter(from.dtype) && from.lanes == 1) return {};
  return fmt::format("expected a scalar i32 or i64 as operand {}, got {}x{}", k,
                     dtype_text(from.dtype), from.lanes);
}

std::string expect_access(const ProgramView& program, const tn_op& op, uint32_t k, uint32_t access,
                          uint8_t dtype, uint32_t lanes) {
  const uint32_t memory = program.operands(op)[k];
  if (!is_memory(program, memory)) {
    return fmt::format("expected a buffer or allocation as operand {}", k);
  }
  const tn_param& param = program.param(static_cast<uint32_t>(program.op(memory).imm));
  if ((param.access & access) != access) {
    return fmt::format("expected access {} to {}, got {}", access, program.string(param.name),
                       param.access);
  }
  if (param.dtype != dtype) {
    return fmt::format("expected a buffer of {}, got {}", dtype_text(dtype),
                       dtype_text(static_cast<uint8_t>(param.dtype)));
  }
  const tn_op& index = program.op(program.operands(op)[k + 1]);
  if (!is_counter(index.dtype) || (index.lanes != 1 && index.lanes != lanes)) {
    return fmt::format("expected an i32 or i64 index of 1 or {} lanes, got {}x{}", lanes,
                       dtype_text(index.dtype), index.lanes);
  }
  return {};
}

}  // namespace tenon::sdk
