// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exponentials, logarithms, sine and cosine, on scalars and vectors of f32 and f64.
//
// f32 is polynomials in IR; f64, and sine of large f32, call the host's libm (host_math.hpp).
// Measured bounds stand in docs; strict profile: 3 ULP, sine and cosine 4.
#pragma once

#include "plugins/cpu/types.hpp"

namespace tenon::cpu {

/// EXP2 LOG2 SIN EXP LN COS.
llvm::Value* emit_transcendental(Builder& builder, tn_opcode op, llvm::Value* x);
/// In the function's entry block, so that a loop does not grow the stack.
llvm::Value* entry_alloca(Builder& builder, llvm::Type* type, uint64_t alignment);

}  // namespace tenon::cpu
