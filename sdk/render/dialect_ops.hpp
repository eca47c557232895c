// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The optional elementwise ops that each language has words for: what its backends claim. One that
// is not listed is refused by the printer, and said in other ops by the core. Listed ops are
// printed for each dtype that they take by tests/sdk/render_*.cpp.
#pragma once

#include "sdk/program/op_groups.hpp"

namespace tenon::sdk {

/// C11, OpenCL C, CUDA C++ and HIP C++.
inline constexpr auto kCOps = joined(kArithmeticOps, kMathOps, kFusedOps);
inline constexpr auto kGlslOps = joined(kArithmeticOps, kMathOps, kFusedOps);
/// Its fma() may round twice.
inline constexpr auto kWgslOps = joined(kArithmeticOps, kMathOps);

}  // namespace tenon::sdk
