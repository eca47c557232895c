// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs that count against a device's budget.
#pragma once

#include <atomic>
#include <memory>

#include "sdk/backend/host_device.hpp"

namespace tenon::cpu {

/// Bytes that all slabs of a device may hold together; outlives them.
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

/// The system promises more memory than it has, and would end the process later: so the share is
/// taken before the slab.
class CpuMemory : private BudgetShare, public sdk::HostMemory {
 public:
  CpuMemory(MemoryBudget& budget, uint64_t size);
};

}  // namespace tenon::cpu
