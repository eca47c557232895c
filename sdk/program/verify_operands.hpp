// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared checks of operands. Each returns an error, or "".
#pragma once

#include <cstdint>
#include <string>

#include "sdk/program/view.hpp"

namespace tenon::sdk {

inline bool is_counter(uint8_t dtype) { return dtype == TN_DTYPE_I32 || dtype == TN_DTYPE_I64; }

/// Whether value number `value` is a PARAM of memory.
bool is_memory(const ProgramView& program, uint32_t value);
/// Whether operand k of such an op is memory.
bool takes_memory(uint16_t op, size_t k);

/// Expects dtype and lanes of operand k.
std::string expect_operand(const ProgramView& program, const tn_op& op, uint32_t k, uint8_t dtype,
                           uint32_t lanes);
/// Expects operand k to be a scalar i32 or i64.
std::string expect_counter(const ProgramView& program, const tn_op& op, uint32_t k);
/// Expects operands k and k + 1 to be memory of the dtype with the access, and an index of 1 or
/// `lanes` lanes.
std::string expect_access(const ProgramView& program, const tn_op& op, uint32_t k, uint32_t access,
                          uint8_t dtype, uint32_t lanes);

}  // namespace tenon::sdk
