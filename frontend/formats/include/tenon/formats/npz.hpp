// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's .npz: a ZIP archive with a .npy file (tenon/npy.hpp) for each array, stored as
// numpy.savez does or compressed as numpy.savez_compressed.
#pragma once

#include <string>

#include "tenon/array.hpp"
#include "tenon/export.hpp"
#include "tenon/formats/named.hpp"

namespace tenon::formats {

/// All arrays in the archive's order; names are those that were given to savez, without ".npy".
/// Throws kEnvironment for what the system refuses, kOutOfMemory; kInvalid, with file and array,
/// for what is no such archive, is damaged, encrypted or packed by another method than deflate,
/// and for entries that are no .npy, stand twice, or are not as long as the archive says.
TENON_API NamedArrays read_npz(const std::string& path);

enum class NpzCompression : uint8_t { kStored, kDeflated };

/// The archive is made in memory; it is there as a whole or not at all, and an error leaves an old
/// file as it was (tenon/file_io.hpp, `write_file`). Throws kInvalid for names that stand twice or
/// are not UTF-8 of 1 to 1000 bytes without zeros, backslashes and a leading slash.
TENON_API void write_npz(const std::string& path, const NamedArrays& arrays,
                         NpzCompression compression = NpzCompression::kStored);
TENON_API void write_npz(const std::string& path, const NamedTensors& tensors,
                         NpzCompression compression = NpzCompression::kStored);

}  // namespace tenon::formats
