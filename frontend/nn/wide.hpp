// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What sums, norms and states are computed in: f32, and f64 for f64.
#pragma once

#include "tenon/tensor.hpp"

namespace tenon::nn {

inline DType wide(DType dtype) { return dtype == DType::kF64 ? dtype : DType::kF32; }
inline Tensor wide(const Tensor& x) { return x.astype(wide(x.dtype())); }

}  // namespace tenon::nn
