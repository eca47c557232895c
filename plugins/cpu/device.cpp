// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An open processor.
#include "plugins/cpu/device.hpp"

namespace tenon::cpu {

CpuDevice::CpuDevice(const HostInfo& host, unsigned threads)
    : properties_(host_target(), host, threads), queue_(threads) {
  budget_.total = host.memory_bytes;
}

std::unique_ptr<sdk::Memory> CpuDevice::allocate(uint32_t, uint64_t size) {
  return CpuMemory::allocate(budget_, size);
}

std::unique_ptr<sdk::Memory> CpuDevice::import_host(uint32_t, void* pointer, uint64_t size) {
  return CpuMemory::import_host(pointer, size);
}

void CpuDevice::submit(const sdk::Submission& submission) { queue_.submit(read_batch(submission)); }

std::unique_ptr<sdk::Timeline> CpuDevice::make_timeline(uint64_t value) {
  return std::make_unique<sdk::HostTimeline>(value);
}

}  // namespace tenon::cpu
