// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slab: a range of a named file, or of an unnamed one.
#pragma once

#include "plugins/disk/file.hpp"
#include "sdk/backend/files.hpp"

namespace tenon::disk {

class DiskMemory : public sdk::FileMemory {
 public:
  DiskMemory(std::shared_ptr<File> file, uint64_t begin, uint64_t size, bool writable)
      : file_(std::move(file)), begin_(begin), size_(size), writable_(writable) {}
  ~DiskMemory() override;

  /// Maps the pages of an unnamed file. A named file, which others may truncate, gives a private
  /// copy; unmap writes changes back.
  void* map(uint64_t offset, uint64_t size) override;
  void unmap() override;
  uint64_t size() const override { return size_; }
  void read(uint64_t offset, void* to, uint64_t size) const override;
  void write(uint64_t offset, const void* from, uint64_t size) const override;
  void* pin(uint64_t offset, uint64_t size) override;
  void unpin() override;

  bool overlaps(uint64_t offset, const DiskMemory& other, uint64_t other_offset,
                uint64_t size) const;

 private:
  std::shared_ptr<File> file_;
  uint64_t begin_, size_;
  bool writable_;
  File::Pages mapped_, pinned_;
  std::unique_ptr<std::byte[]> copy_;
  uint64_t copy_offset_ = 0, copy_size_ = 0;
};

}  // namespace tenon::disk
