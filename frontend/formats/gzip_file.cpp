// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/formats/gzip_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/support/error.hpp"
#include "frontend/formats/input_file.hpp"

namespace tenon::formats {
namespace {

constexpr size_t kMostReadAtOnce = size_t{1} << 30;

}  // namespace

GzipFile::GzipFile(const std::string& path) : path_(path) {
  InputFile file(path);
  most_bytes_ =
      file.size() > INT64_MAX / kMostDeflateRatio ? INT64_MAX : file.size() * kMostDeflateRatio;
  const int descriptor = file.release();
  file_ = gzdopen(descriptor, "rb");
  if (file_ == nullptr) {
    close(descriptor);
    fail(ErrorKind::kOutOfMemory, "{}: expected memory to read it, got none", path);
  }
}

GzipFile::~GzipFile() { gzclose(file_); }

size_t GzipFile::read(void* data, size_t size) {
  auto* to = static_cast<char*>(data);
  size_t held = 0;
  while (held < size) {
    const int got =
        gzread(file_, to + held, static_cast<unsigned>(std::min(size - held, kMostReadAtOnce)));
    int code = Z_OK;
    const char* const why = gzerror(file_, &code);
    if (code == Z_ERRNO)
      fail(ErrorKind::kEnvironment, "{}: expected a readable file, got: {}", path_,
           std::strerror(errno));
    TN_REQUIRE(got >= 0 && (code == Z_OK || code == Z_STREAM_END),
               "{}: expected whole gzip data, got: {}", path_, why);
    if (got == 0) break;
    held += static_cast<size_t>(got);
  }
  return held;
}

}  // namespace tenon::formats
