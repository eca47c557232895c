// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits elementwise ops, as ops.def defines them, on scalars and vectors.
#pragma once

#include <span>

#include "plugins/cpu/types.hpp"

namespace tenon::cpu {

/// The optional elementwise ops that every processor claims. FMA is claimed only with the
/// instruction: else it would be a call for each element.
std::span<const tn_opcode> emitted_ops();

/// `dtype` is that of the value operands, not of WHERE's condition. `no_wrap` as TN_OP_NO_WRAP.
/// Throws std::invalid_argument unless it is an elementwise op on that dtype.
llvm::Value* emit_elementwise(Builder& builder, tn_opcode op, tn_dtype dtype,
                              std::span<llvm::Value* const> operands, bool no_wrap = false);

/// Combines all lanes by ADD, MUL, MAX, MIN, AND, OR or XOR. Halves first, so the order is fixed.
llvm::Value* emit_lane_reduce(Builder& builder, tn_opcode op, tn_dtype dtype, llvm::Value* vector);

}  // namespace tenon::cpu
