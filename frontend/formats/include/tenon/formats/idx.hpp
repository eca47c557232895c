// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The IDX format, in which MNIST is kept (yann.lecun.com/exdb/mnist): one array, big-endian.
#pragma once

#include <string>

#include "tenon/array.hpp"
#include "tenon/export.hpp"

namespace tenon::formats {

/// u8, i8, i16, i32, f32 or f64 of any shape, from a file as it is or compressed by gzip. Throws
/// kEnvironment for what the system refuses, kInvalid for a file that is no IDX, is damaged, or is
/// shorter or longer than its shape, kOutOfMemory.
TENON_API Array read_idx(const std::string& path);

}  // namespace tenon::formats
