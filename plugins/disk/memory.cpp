// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/disk/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tenon::disk {
namespace {

constexpr uint64_t kPiece = uint64_t{1} << 16;

}  // namespace

FileMemory::~FileMemory() {
  disk::unmap(mapped_);
  if (pinned_.base) file_->unpin(pinned_);
}

void FileMemory::check(uint64_t offset, uint64_t size, const char* what) const {
  if (offset <= size_ && size <= size_ - offset) return;
  throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT,
                     fmt::format("{}: expected {} inside {} bytes, got {} at {}", file_->path(),
                                 what, size_, size, offset));
}

void* FileMemory::map(uint64_t offset, uint64_t size) {
  if (mapped_.base || copy_)
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "memory_map: expected one map at a time");
  if (size == 0) return nullptr;
  if (file_->mappable()) {
    mapped_ = file_->map(begin_ + offset, size, true);
    return mapped_.data;
  }
  auto copy = std::make_unique_for_overwrite<std::byte[]>(size);
  read(offset, copy.get(), size);
  copy_ = std::move(copy);
  copy_offset_ = offset;
  copy_size_ = size;
  return copy_.get();
}

void FileMemory::unmap() {
  disk::unmap(std::exchange(mapped_, {}));
  if (!copy_) return;
  const auto copy = std::exchange(copy_, nullptr);
  std::byte now[kPiece];
  for (uint64_t done = 0; done < copy_size_; done += kPiece) {
    const uint64_t piece = std::min(kPiece, copy_size_ - done);
    read(copy_offset_ + done, now, piece);
    if (std::memcmp(now, copy.get() + done, piece) != 0)
      write(copy_offset_ + done, copy.get() + done, piece);
  }
}

void FileMemory::read(uint64_t offset, void* to, uint64_t size) const {
  check(offset, size, "bytes to read");
  file_->read(begin_ + offset, to, size);
}

void FileMemory::write(uint64_t offset, const void* from, uint64_t size) const {
  check(offset, size, "bytes to write");
  if (!writable_) {
    throw sdk::Failure(
        TN_ERROR_IO,
        fmt::format("{}: expected a range opened to write, got one to read", file_->path()));
  }
  file_->write(begin_ + offset, from, size);
}

void* FileMemory::pin(uint64_t offset, uint64_t size) {
  check(offset, size, "bytes to pin");
  if (pinned_.base)
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "pin: expected one pin at a time");
  pinned_ = file_->pin(begin_ + offset, size);
  return pinned_.data;
}

void FileMemory::unpin() {
  if (pinned_.base) file_->unpin(std::exchange(pinned_, {}));
}

}  // namespace tenon::disk
