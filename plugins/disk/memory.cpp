// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/disk/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tenon::disk {
namespace {

constexpr uint64_t kFillPiece = uint64_t{1} << 16;

}  // namespace

DiskMemory::~DiskMemory() {
  disk::unmap(mapped_);
  if (pinned_.base) file_->unpin(pinned_);
}

void* DiskMemory::map(uint64_t offset, uint64_t size) {
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

void DiskMemory::unmap() {
  disk::unmap(std::exchange(mapped_, {}));
  if (!copy_) return;
  const auto copy = std::exchange(copy_, nullptr);
  std::byte now[kFillPiece];
  for (uint64_t done = 0; done < copy_size_; done += kFillPiece) {
    const uint64_t piece = std::min(kFillPiece, copy_size_ - done);
    read(copy_offset_ + done, now, piece);
    if (std::memcmp(now, copy.get() + done, piece) != 0)
      write(copy_offset_ + done, copy.get() + done, piece);
  }
}

void DiskMemory::read(uint64_t offset, void* to, uint64_t size) const {
  file_->read(begin_ + offset, to, size);
}

void DiskMemory::write(uint64_t offset, const void* from, uint64_t size) const {
  if (!writable_) {
    throw sdk::Failure(
        TN_ERROR_IO,
        fmt::format("{}: expected a range opened to write, got one to read", file_->path()));
  }
  file_->write(begin_ + offset, from, size);
}

bool DiskMemory::overlaps(uint64_t offset, const DiskMemory& other, uint64_t other_offset,
                          uint64_t size) const {
  const uint64_t here = begin_ + offset, there = other.begin_ + other_offset;
  return file_ == other.file_ && here < there + size && there < here + size;
}

void* DiskMemory::pin(uint64_t offset, uint64_t size) {
  if (pinned_.base)
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "pin: expected one pin at a time");
  pinned_ = file_->pin(begin_ + offset, size);
  return pinned_.data;
}

void DiskMemory::unpin() {
  if (pinned_.base) file_->unpin(std::exchange(pinned_, {}));
}

}  // namespace tenon::disk
