// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of the sizes that a file claims: counted and compared before they are made.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tenon/array.hpp"

namespace tenon::formats {

inline constexpr size_t kMostAxes = 16;

/// Bytes of the elements, or nothing for a negative size or one of 2^63 bytes and more.
std::optional<uint64_t> byte_size(DType dtype, const std::vector<int64_t>& shape);

/// Throws kOutOfMemory for more than half of the machine's memory, which would end the process
/// rather than the call.
void check_memory(std::string_view origin, uint64_t bytes);

/// Zeros. Throws kInvalid for sizes that cannot be, and as check_memory does.
Array host_array(std::string_view origin, DType dtype, std::vector<int64_t> shape);

/// Throws kInvalid where the bytes are not those of dtype and shape.
void check_array(const char* op, std::string_view name, const Array& array);

/// Names of strangers, short enough for a message.
std::string_view shortened(std::string_view text);

}  // namespace tenon::formats
