// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA C++ for NVRTC, compute capability 7.5 and later. Compile with --fmad=false.
#pragma once

#include <span>

#include "sdk/render/dialect.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

const Dialect& cuda_dialect();

/// The matrix atoms of a compute capability, as 75, 80 or 90, sorted by id. The tf32 atom reads its
/// f32 operands with 10 bits of mantissa.
std::span<const tn_matrix_atom> cuda_atoms(int compute_capability, bool has_own_code = false);

}  // namespace tenon::sdk
