// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hash function, XXH3, for tables, names of kernels and files. Equal in every process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

/// Adds a value to a hash. Order matters.
uint64_t hash_mix(uint64_t hash, uint64_t value);
uint64_t hash_bytes(uint64_t hash, std::string_view bytes);

/// 128 bits as 32 hexadecimal digits.
std::string hash_digits(std::string_view bytes);

}  // namespace tenon
