// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sdk/backend/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon::sdk {

uint64_t checksum(const void* bytes, size_t size, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, size, seed);
}

}  // namespace tenon::sdk
