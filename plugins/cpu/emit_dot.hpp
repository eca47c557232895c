// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DOT by dot product instructions.
#pragma once

#include <array>

#include "plugins/cpu/types.hpp"

namespace tenon::cpu {

/// z plus the products of neighbours in 32 bits of x and y: pairs of bf16 to f32, or fours of u8
/// and i8 to i32. `lanes`: 32-bit lanes of a register.
llvm::Value* emit_dot(Builder& b, tn_dtype sum, const std::array<llvm::Value*, 3>& operands,
                      unsigned lanes);

}  // namespace tenon::cpu
