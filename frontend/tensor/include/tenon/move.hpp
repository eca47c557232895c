// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors joined, and cut into several. Any dtype. What joins is one kernel, parts are views.
#pragma once

#include <cstdint>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

TENON_API Tensor concatenate(const std::vector<Tensor>& tensors, int axis = 0);  ///< along an axis
TENON_API Tensor stack(const std::vector<Tensor>& tensors, int axis = 0);  ///< along a new axis
TENON_API Tensor vstack(const std::vector<Tensor>& tensors);  ///< as rows: along axis 0
TENON_API Tensor hstack(const std::vector<Tensor>& tensors);  ///< along axis 1; rank 1: axis 0
/// Into parts of the given sizes, which add up to the axis.
TENON_API std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes,
                                    int axis = 0);
/// Into at most `count` parts of ceil(size / count), the last one smaller, as PyTorch.
TENON_API std::vector<Tensor> chunk(const Tensor& x, int64_t count, int axis = 0);

}  // namespace tenon
