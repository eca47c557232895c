// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What executable_save hands out, and how executable_load tells its own from anything else.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::sdk {

/// `sections` after a header with a checksum and `identity`: who made them and what they are for.
/// The build id of the library is part of it.
std::vector<std::byte> pack_saved(std::string_view identity,
                                  std::span<const std::span<const std::byte>> sections);

/// The sections, inside `bytes`. Throws TN_ERROR_INCOMPATIBLE where the bytes are cut, extended or
/// damaged, have another number of sections, or are of another identity or build.
std::vector<std::span<const std::byte>> unpack_saved(std::span<const std::byte> bytes,
                                                     std::string_view identity, size_t sections);

}  // namespace tenon::sdk
