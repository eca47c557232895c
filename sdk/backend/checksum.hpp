// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The XXH3 checksum, to detect damaged files.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::sdk {

uint64_t checksum(const void* bytes, size_t size, uint64_t seed = 0);

}  // namespace tenon::sdk
