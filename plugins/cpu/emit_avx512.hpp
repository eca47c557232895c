// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops with one instruction in AVX-512 (F, VL, DQ), on scalars and vectors of f32 and f64. Only for
// targets with Builder::avx512.
#pragma once

#include "plugins/cpu/types.hpp"

namespace tenon::cpu {

/// The larger or smaller number. -0 is below +0. Of a number and a NaN, the number.
llvm::Value* emit_extreme_number(Builder& builder, bool is_max, llvm::Value* x, llvm::Value* y);
/// x * 2^floor(n), rounded once, also for results that are subnormal, 0 or infinite.
llvm::Value* emit_scale(Builder& builder, llvm::Value* x, llvm::Value* n);

}  // namespace tenon::cpu
