// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/device/file_ranges.hpp"

#include "core/plugin/abi_struct.hpp"
#include "core/plugin/status.hpp"

namespace tenon {

tn_memory* FileRanges::open(uint64_t offset, uint64_t size, bool write) {
  tn_error error = abi_struct<tn_error>();
  tn_memory* memory = nullptr;
  check_status(opened_.files->open_range(opened_.handle, offset, size, write ? TN_FILES_WRITE : 0u,
                                         &memory, &error),
               error, "open_range", opened_.id);
  const std::lock_guard lock(mutex_);
  held_.insert(memory);
  return memory;
}

void FileRanges::retire(tn_memory* range, uint64_t last_use) noexcept {
  const std::lock_guard lock(mutex_);
  held_.erase(range);
  retired_.emplace_back(last_use, range);
  has_retired_ = true;
}

void FileRanges::free_retired(uint64_t ended) noexcept {
  if (!has_retired_) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(retired_, [&](const auto& item) {
    if (item.first > ended) return false;
    opened_.plugin().memory_free(item.second);
    return true;
  });
  has_retired_ = !retired_.empty();
}

void FileRanges::free_all() noexcept {
  free_retired(UINT64_MAX);
  for (tn_memory* range : held_) opened_.plugin().memory_free(range);
}

}  // namespace tenon
