// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file that may be compressed by gzip, read from the begin to the end.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/formats/input_file.hpp"

namespace tenon::formats {

/// Bytes that one byte of deflate can be (zlib.net/zlib_tech.html).
inline constexpr uint64_t kMostDeflateRatio = 1032;

class GzipFile {
 public:
  /// Throws kEnvironment for what the system refuses, kInvalid for what is no regular file.
  explicit GzipFile(const std::string& path);
  ~GzipFile();
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  /// No file of this size holds more, before or after it is decompressed.
  uint64_t most_bytes() const { return most_bytes_; }
  /// As many as there are up to `size`. Throws kInvalid for damaged data, and for what follows it
  /// and is no gzip data: to read on to the end tells.
  size_t read(void* data, size_t size);

 private:
  bool refill();  ///< false at the end of the file

  InputFile file_;
  uint64_t at_ = 0;  ///< read from the file
  std::vector<unsigned char> buffer_;
  z_stream stream_{};
  bool is_compressed_ = false;
  bool is_whole_ = false;  ///< the member that was read last
  uint64_t most_bytes_ = 0;
};

}  // namespace tenon::formats
