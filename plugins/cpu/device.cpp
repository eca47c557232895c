// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/device.hpp"

#include <fmt/format.h>

namespace tenon::cpu {

CpuDevice::CpuDevice(const HostInfo& host, unsigned threads)
    : properties_(host_target(), host, threads), queue_(threads) {
  budget_.total = host.memory_bytes;
  make_static_objects();
}

std::unique_ptr<sdk::Memory> CpuDevice::allocate(uint32_t, uint64_t size) {
  return std::make_unique<CpuMemory>(budget_, size);
}

std::unique_ptr<sdk::Memory> CpuDevice::import_host(uint32_t, void* pointer, uint64_t size) {
  if (reinterpret_cast<uintptr_t>(pointer) % kMemoryAlignment != 0)
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT,
                       fmt::format("memory_import: expected a pointer aligned to {} bytes, got {}",
                                   kMemoryAlignment, pointer));
  return std::make_unique<sdk::HostMemory>(pointer, size);
}

void CpuDevice::submit(const sdk::Submission& submission) { queue_.submit(read_batch(submission)); }

std::unique_ptr<sdk::Timeline> CpuDevice::make_timeline(uint64_t value) {
  return std::make_unique<QueueTimeline>(queue_, value);
}

}  // namespace tenon::cpu
