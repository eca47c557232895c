// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's .npy files, versions 1 to 3. Read in C's and Fortran's order, little-endian and
// big-endian; written in C's order, little-endian. bf16 and fp8 travel as their bits
// ("<V2", "|V1") only when a dtype is given to read them as.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "tenon/array.hpp"
#include "tenon/export.hpp"

namespace tenon {

/// Throws kEnvironment for what the system refuses, kInvalid for a malformed file (with the byte
/// offset), for what is no regular file, and for one larger than half of the machine's memory.
TENON_API Array read_npy(const std::string& path, std::optional<DType> as = std::nullopt);
TENON_API Array parse_npy(std::span<const std::byte> bytes, const std::string& origin,
                          std::optional<DType> as = std::nullopt);
/// The bytes of a file, of version 1.
TENON_API std::string print_npy(const Array& array);
/// An error leaves an old file as it was.
TENON_API void write_npy(const std::string& path, const Array& array);

}  // namespace tenon
