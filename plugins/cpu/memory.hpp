// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs that count against the memory budget of a device.
#pragma once

#include <atomic>

#include "sdk/backend/host_device.hpp"

namespace tenon::cpu {

/// Most bytes of all slabs of a device together. Outlives them.
struct MemoryBudget {
  uint64_t total = 0;  ///< 0: no limit
  std::atomic<uint64_t> used{0};
};

class BudgetShare {
 public:
  /// Throws TN_ERROR_OUT_OF_MEMORY.
  BudgetShare(MemoryBudget& budget, uint64_t size);
  ~BudgetShare() { budget_.used -= size_; }
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;

 private:
  MemoryBudget& budget_;
  uint64_t size_;
};

/// Takes its share of the budget before allocating, as the system overcommits memory and might end
/// the process later.
class CpuMemory : private BudgetShare, public sdk::HostMemory {
 public:
  CpuMemory(MemoryBudget& budget, uint64_t size);
};

}  // namespace tenon::cpu
