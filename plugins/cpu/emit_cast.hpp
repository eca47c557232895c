// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CAST: value and bit casts between any two dtypes, on scalars and vectors alike.
#pragma once

#include "plugins/cpu/types.hpp"

namespace tenon::cpu {

/// Rounds once, to nearest even; float to integer truncates and saturates, NaN gives 0.
llvm::Value* emit_cast(Builder& builder, llvm::Value* value, tn_dtype from, tn_dtype to);
/// Same size; the bits of a bool are its byte.
llvm::Value* emit_bit_cast(Builder& builder, llvm::Value* value, tn_dtype from, tn_dtype to);

}  // namespace tenon::cpu
