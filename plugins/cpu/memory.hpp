// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs of host memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "sdk/helpers/backend.hpp"

namespace tenon::cpu {

/// Bytes that all slabs of a device may hold together; outlives the device's slabs.
struct MemoryBudget {
  uint64_t total = 0;  ///< 0: no limit
  std::atomic<uint64_t> used{0};
};

class CpuMemory : public sdk::Memory {
 public:
  /// Throws TN_ERROR_OUT_OF_MEMORY.
  static std::unique_ptr<CpuMemory> allocate(MemoryBudget& budget, uint64_t size);
  static std::unique_ptr<CpuMemory> import_host(void* pointer, uint64_t size);
  ~CpuMemory() override;

  void* map(uint64_t offset, uint64_t size) override;
  uint64_t size() const override { return size_; }
  std::byte* data() const { return data_; }

 private:
  CpuMemory(std::byte* data, uint64_t size, MemoryBudget* budget)
      : data_(data), size_(size), budget_(budget) {}
  std::byte* data_;
  uint64_t size_;
  MemoryBudget* budget_;  ///< null: imported
};

}  // namespace tenon::cpu
