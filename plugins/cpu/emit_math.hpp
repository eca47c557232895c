// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exponentials, logarithms, sine and cosine, on scalars and vectors of f32 and f64.
//
// f32 uses polynomials in IR. f64, and sine of large f32, call libm of the host (host_math.hpp).
// Worst error seen over every 97th f32: exp2 0.93 ULP, exp 0.89, log2 1.6, ln 0.82, sin and
// cos 1.6.
#pragma once

#include "plugins/cpu/types.hpp"

namespace tenon::cpu {

/// EXP2 LOG2 SIN EXP LN COS.
llvm::Value* emit_transcendental(Builder& builder, tn_opcode op, llvm::Value* x);
/// An alloca in the entry block of the function, so that a loop does not grow the stack.
llvm::Value* entry_alloca(Builder& builder, llvm::Type* type, uint64_t alignment);

}  // namespace tenon::cpu
