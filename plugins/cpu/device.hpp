// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU as an open device.
#pragma once

#include "plugins/cpu/memory.hpp"
#include "plugins/cpu/properties.hpp"
#include "plugins/cpu/queue.hpp"

namespace tenon::cpu {

class CpuDevice : public sdk::Device {
 public:
  CpuDevice(const HostInfo& host, unsigned threads);
  const tn_properties& properties() const override { return properties_.get(); }
  std::unique_ptr<sdk::Memory> allocate(uint32_t space, uint64_t size) override;
  std::unique_ptr<sdk::Memory> import_host(uint32_t space, void* pointer, uint64_t size) override;
  void submit(const sdk::Submission& submission) override;
  std::unique_ptr<sdk::Timeline> make_timeline(uint64_t value) override;

 private:
  Properties properties_;
  MemoryBudget budget_;
  Queue queue_;
};

}  // namespace tenon::cpu
