// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dtypes and shapes, as tenon.h tells them. Internal to the library.
#pragma once

#include "frontend/c/handles.hpp"
#include "tenon/dtype.hpp"
#include "tenon/size.hpp"

namespace tenon::c {

inline bool is_dtype(tenon_dtype code) {
  return std::ranges::any_of(all_dtypes(),
                             [&](DType one) { return static_cast<tenon_dtype>(one) == code; });
}

inline void write_type(const char* call, DType dtype, const Sizes& sizes, tenon_type* out) {
  if (sizes.size() > TENON_MAX_RANK)
    refuse("[{}] expected a rank up to {}, got {}", call, TENON_MAX_RANK, sizes.size());
  tenon_type type{};
  type.dtype = static_cast<tenon_dtype>(dtype);
  type.rank = static_cast<uint32_t>(sizes.size());
  type.bytes = dtype_size(dtype);
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    type.shape[axis] = sizes[axis].is_fixed() ? sizes[axis].value() : -1;
    type.bytes *= sizes[axis].is_fixed() ? static_cast<uint64_t>(type.shape[axis]) : 0;
  }
  write_struct(call, "out", type, out, sizeof(tenon_type));
}

}  // namespace tenon::c
