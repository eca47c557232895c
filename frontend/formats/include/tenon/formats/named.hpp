// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors and arrays under names, in an order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tenon/array.hpp"
#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon::formats {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// All computed in one go.
TENON_API NamedArrays to_arrays(const NamedTensors& tensors);

}  // namespace tenon::formats
