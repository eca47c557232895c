// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs of host memory.
#include "plugins/cpu/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>

#include "plugins/cpu/properties.hpp"

namespace tenon::cpu {
namespace {

constexpr uint64_t kHugePage = 2 << 20;

[[noreturn]] void out_of_memory(uint64_t size, const MemoryBudget& budget) {
  throw sdk::Failure(
      TN_ERROR_OUT_OF_MEMORY,
      fmt::format("memory_allocate: expected {} bytes to be free, got {} of {} in use", size,
                  budget.used.load(), budget.total));
}

}  // namespace

std::unique_ptr<CpuMemory> CpuMemory::allocate(MemoryBudget& budget, uint64_t size) {
  // The system promises more than it has: without a budget it would end the process later.
  const uint64_t before = budget.used.fetch_add(size);
  if (budget.total && (size > budget.total || before > budget.total - size)) {
    budget.used -= size;
    out_of_memory(size, budget);
  }
  const uint64_t alignment = size >= 2 * kHugePage ? kHugePage : kMemoryAlignment;
  void* data = nullptr;
  const uint64_t rounded = (size + alignment - 1) / alignment * alignment;
  if (posix_memalign(&data, alignment, rounded) != 0) {
    budget.used -= size;
    out_of_memory(size, budget);
  }
  if (alignment == kHugePage) madvise(data, rounded, MADV_HUGEPAGE);  // advice: may be refused
  return std::unique_ptr<CpuMemory>(new CpuMemory(static_cast<std::byte*>(data), size, &budget));
}

std::unique_ptr<CpuMemory> CpuMemory::import_host(void* pointer, uint64_t size) {
  if (reinterpret_cast<uintptr_t>(pointer) % kMemoryAlignment != 0)
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT,
                       fmt::format("memory_import: expected a pointer aligned to {} bytes, got {}",
                                   kMemoryAlignment, pointer));
  return std::unique_ptr<CpuMemory>(new CpuMemory(static_cast<std::byte*>(pointer), size, nullptr));
}

CpuMemory::~CpuMemory() {
  if (!budget_) return;
  budget_->used -= size_;
  std::free(data_);
}

void* CpuMemory::map(uint64_t offset, uint64_t) { return data_ + offset; }

}  // namespace tenon::cpu
