// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DOT by the processor's own instructions.
#pragma once

#include <array>

#include "plugins/cpu/types.hpp"

namespace tenon::cpu {

/// z plus the products of neighbours of x and y, of 32 bits together: pairs of bf16 to f32, or
/// fours of u8 and i8 to i32. `lanes`: of 32 bits, in a register.
llvm::Value* emit_dot(Builder& b, tn_dtype sum, const std::array<llvm::Value*, 3>& operands,
                      unsigned lanes);

}  // namespace tenon::cpu
