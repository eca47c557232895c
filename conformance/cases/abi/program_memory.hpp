// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers and allocations of a random program, and what floats they hold.
#pragma once

#include "conformance/cases/abi/program_data.hpp"
#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi {

struct Memory {
  uint32_t id = 0;
  tn_dtype dtype = TN_DTYPE_I32;
  int64_t each = 1;    ///< elements of a thread; of an allocation all
  int64_t stride = 1;  ///< of an output, from thread to thread: what all came to has its own
  bool strided = false, readable = false, aligned = false;
};

inline bool is_float(tn_dtype dtype) { return sdk::is_float(static_cast<uint8_t>(dtype)); }
inline Exact input(tn_dtype dtype) { return input_exact(static_cast<uint8_t>(dtype)); }

/// Of what is read again from memory that the program writes.
inline Exact kept_exact(tn_dtype dtype) {
  const Exact wide{128, 2};
  return is_float(dtype) && holds(static_cast<uint8_t>(dtype), wide) ? wide : input(dtype);
}

}  // namespace tenon::conformance::abi
