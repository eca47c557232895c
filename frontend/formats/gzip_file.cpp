// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Not gzread: it takes whatever stands after a member for the end.
#include "frontend/formats/gzip_file.hpp"

#include <algorithm>
#include <cstring>

#include "core/support/error.hpp"

namespace tenon::formats {
namespace {

constexpr size_t kBuffer = size_t{1} << 16;
constexpr size_t kMostInflated = size_t{1} << 30;
constexpr int kGzip = 15 + 16;  ///< the largest window, gzip's header and trailer

}  // namespace

GzipFile::GzipFile(const std::string& path) : file_(path), buffer_(kBuffer) {
  most_bytes_ =
      file_.size() > INT64_MAX / kMostDeflateRatio ? INT64_MAX : file_.size() * kMostDeflateRatio;
  refill();
  is_compressed_ = stream_.avail_in >= 2 && buffer_[0] == 0x1f && buffer_[1] == 0x8b;
  if (is_compressed_ && inflateInit2(&stream_, kGzip) != Z_OK)
    fail(ErrorKind::kOutOfMemory, "{}: expected memory to read it, got none", path);
}

GzipFile::~GzipFile() {
  if (is_compressed_) inflateEnd(&stream_);
}

bool GzipFile::refill() {
  if (stream_.avail_in > 0) return true;
  const uint64_t size = std::min<uint64_t>(buffer_.size(), file_.size() - at_);
  file_.read(at_, buffer_.data(), size);
  at_ += size;
  stream_.next_in = buffer_.data();
  stream_.avail_in = static_cast<uInt>(size);
  return size > 0;
}

size_t GzipFile::read(void* data, size_t size) {
  auto* to = static_cast<unsigned char*>(data);
  size_t held = 0;
  while (held < size && refill()) {
    const size_t room = std::min(size - held, kMostInflated);
    if (!is_compressed_) {
      const size_t part = std::min<size_t>(room, stream_.avail_in);
      std::memcpy(to + held, stream_.next_in, part);
      stream_.next_in += part;
      stream_.avail_in -= static_cast<uInt>(part);
      held += part;
      continue;
    }
    const bool begins = std::exchange(is_whole_, false);  // one member may follow another
    if (begins) inflateReset(&stream_);
    stream_.next_out = to + held;
    stream_.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR)
      fail(ErrorKind::kOutOfMemory, "{}: expected memory to read it, got none", file_.path());
    TN_REQUIRE(code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR,
               "{}: expected {}, got: {}", file_.path(),
               begins ? "the end after gzip data" : "whole gzip data",
               stream_.msg != nullptr ? stream_.msg : "none");
    held += room - stream_.avail_out;
    is_whole_ = code == Z_STREAM_END;
  }
  TN_REQUIRE(held == size || !is_compressed_ || is_whole_,
             "{}: expected whole gzip data, got: the end of the file", file_.path());
  return held;
}

}  // namespace tenon::formats
