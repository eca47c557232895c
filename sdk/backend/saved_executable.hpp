// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes of executable_save, and their validation for executable_load.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace tenon::sdk {

/// Packs `sections` after a header with a checksum and `identity`: the maker and the target. The
/// build id of the library is part of it.
std::vector<std::byte> pack_saved(std::string_view identity,
                                  std::span<const std::span<const std::byte>> sections);

/// The sections, which point into `bytes`. Throws TN_ERROR_INCOMPATIBLE if the bytes are cut,
/// extended or damaged, or have another number of sections, identity or build.
std::vector<std::span<const std::byte>> unpack_saved(std::span<const std::byte> bytes,
                                                     std::string_view identity, size_t sections);

}  // namespace tenon::sdk
