// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/memory.hpp"

#include <fmt/format.h>

#include "plugins/cpu/properties.hpp"

namespace tenon::cpu {

BudgetShare::BudgetShare(MemoryBudget& budget, uint64_t size) : budget_(budget), size_(size) {
  const uint64_t before = budget.used.fetch_add(size);
  if (budget.total == 0 || (size <= budget.total && before <= budget.total - size)) return;
  budget.used -= size;
  throw sdk::Failure(
      TN_ERROR_OUT_OF_MEMORY,
      fmt::format("memory_allocate: expected {} bytes to be free, got {} of {} in use", size,
                  before, budget.total));
}

CpuMemory::CpuMemory(MemoryBudget& budget, uint64_t size)
    : BudgetShare(budget, size), HostMemory(size, kMemoryAlignment) {}

}  // namespace tenon::cpu
