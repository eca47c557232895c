// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dtypes that a case may be of, the plainest first.
#pragma once

#include <algorithm>
#include <vector>

#include "core/ir/dtype.hpp"

namespace tenon::conformance {

/// `first` as it is, in which one may stand several times; then every other one of dtypes.def that
/// `fits`.
inline std::vector<DType> dtype_pool(std::vector<DType> first, bool (*fits)(DType)) {
  for (const DType dtype : all_dtypes())
    if (fits(dtype) && std::ranges::find(first, dtype) == first.end()) first.push_back(dtype);
  return first;
}

}  // namespace tenon::conformance
