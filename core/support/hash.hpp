// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one hash, XXH3: of tables, kernels' names and what lies on disk. Equal in every process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

/// The hash so far with one value more; the order counts.
uint64_t hash_mix(uint64_t hash, uint64_t value);
uint64_t hash_bytes(uint64_t hash, std::string_view bytes);

/// 128 bits as 32 hexadecimal digits.
std::string hash_digits(std::string_view bytes);

}  // namespace tenon
