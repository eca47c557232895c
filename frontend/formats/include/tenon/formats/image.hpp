// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PNG and JPEG images as arrays: u8 [height, width, channels].
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tenon/array.hpp"
#include "tenon/export.hpp"

namespace tenon::formats {

inline constexpr int64_t kMostPixels = int64_t{1} << 27;

/// Channels are 1 grey, 2 grey and alpha, 3 red green blue, 4 these and alpha; 0 is as many as the
/// file has. Values are sRGB, of 8 bits a channel whatever the file has; alpha is not multiplied
/// in, and lies on black where `channels` has none. Throws kEnvironment for what the system
/// refuses, kInvalid with the file and the reason for what is no such image, is damaged, ends too
/// early or has more than kMostPixels.
TENON_API Array read_image(const std::string& path, int channels = 0);
TENON_API Array decode_image(std::span<const std::byte> bytes, const std::string& origin,
                             int channels = 0);

/// u8 [height, width] or [height, width, 1 to 4 channels]; an error leaves an old file as it was.
TENON_API void write_png(const std::string& path, const Array& image);

}  // namespace tenon::formats
