// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dtype in which two tensors meet.
#pragma once

#include "tenon/dtype.hpp"
#include "tenon/export.hpp"

namespace tenon {

/// The dtype of a + b: NumPy's table, and that of ml_dtypes for bf16 and fp8 (docs/tensor.md has it
/// whole). Symmetric. Throws kInvalid for kVoid and for reserved dtypes.
TENON_API DType promote_types(DType a, DType b);

}  // namespace tenon
