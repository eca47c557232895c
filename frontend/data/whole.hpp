// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays that an application made by hand.
#pragma once

#include "tenon/array.hpp"

namespace tenon::data {

/// Whether its bytes are as many as its dtype and shape say.
inline bool is_whole(const Array& array) {
  uint64_t bytes = dtype_size(array.dtype);
  bool is_empty = false;
  for (const int64_t size : array.shape) {
    if (size < 0) return false;
    is_empty |= size == 0;
  }
  for (const int64_t size : array.shape)
    if (!is_empty && __builtin_mul_overflow(bytes, size, &bytes)) return false;
  return array.bytes.size() == (is_empty ? 0 : bytes);
}

}  // namespace tenon::data
