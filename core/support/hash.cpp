// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/hash.hpp"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon {

uint64_t hash_mix(uint64_t hash, uint64_t value) {
  return XXH3_64bits_withSeed(&value, sizeof value, hash);
}

uint64_t hash_bytes(uint64_t hash, std::string_view bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), hash);
}

std::string hash_digits(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace tenon
