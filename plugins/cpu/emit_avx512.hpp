// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What AVX-512 (F, VL, DQ) has one instruction for, on scalars and vectors of f32 and f64. For
// targets that have it: Builder::avx512.
#pragma once

#include "plugins/cpu/types.hpp"

namespace tenon::cpu {

/// The larger number, or the smaller one; -0 lies below +0; of a number and a NaN the number.
llvm::Value* emit_extreme_number(Builder& builder, bool is_max, llvm::Value* x, llvm::Value* y);
/// x * 2^floor(n), rounded once: subnormals, 0 and infinity where the result is there.
llvm::Value* emit_scale(Builder& builder, llvm::Value* x, llvm::Value* n);

}  // namespace tenon::cpu
