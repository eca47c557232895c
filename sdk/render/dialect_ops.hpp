// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The optional elementwise ops of each language, which its backends claim. The printer refuses ops
// that are not listed, and the core decomposes them. tests/sdk/render_*.cpp print listed ops for
// each dtype.
#pragma once

#include "sdk/program/op_groups.hpp"

namespace tenon::sdk {

/// C11, OpenCL C, CUDA C++ and HIP C++.
inline constexpr auto kCOps = concat(kArithmeticOps, kMathOps, kFusedOps);
inline constexpr auto kGlslOps = concat(kArithmeticOps, kMathOps, kFusedOps);
/// Its fma() may round twice.
inline constexpr auto kWgslOps = concat(kArithmeticOps, kMathOps);

}  // namespace tenon::sdk
