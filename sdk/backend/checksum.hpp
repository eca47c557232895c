// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FNV-1a, to tell damage from what was saved.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::sdk {

inline uint64_t checksum(const void* bytes, size_t size, uint64_t seed = 0xcbf29ce484222325) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < size; ++i) seed = (seed ^ at[i]) * 0x100000001b3;
  return seed;
}

}  // namespace tenon::sdk
