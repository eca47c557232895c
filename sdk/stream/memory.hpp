// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs of a GPU: in device memory, or in pinned host memory.
#pragma once

#include <memory>

#include "sdk/backend/host_device.hpp"
#include "sdk/stream/context.hpp"

namespace tenon::sdk {

/// Memory spaces of stream devices.
inline constexpr uint32_t kDeviceSpace = 0, kPinnedSpace = 1;

/// data() is the device address, so read_work() checks commands as for host memory. Only pinned
/// memory has a host address.
class StreamMemory : public HostMemory {
 public:
  StreamMemory(std::shared_ptr<StreamContext> context, uint64_t address, uint64_t size, void* host)
      : HostMemory(reinterpret_cast<void*>(address), size),
        context_(std::move(context)),
        host_(static_cast<std::byte*>(host)) {}

  /// Throws TN_ERROR_UNSUPPORTED for device memory.
  void* map(uint64_t offset, uint64_t size) override;
  uint64_t address() const { return reinterpret_cast<uint64_t>(data()); }
  StreamContext& context() const { return *context_; }
  bool is_pinned() const { return host_ != nullptr; }

 protected:
  std::shared_ptr<StreamContext> context_;
  std::byte* host_;
};

/// `stream` is for stream-ordered allocations and frees; null: none. No work runs on it, so an
/// allocation is complete when the call returns, and a free waits for nothing.
std::unique_ptr<StreamMemory> allocate_device_memory(const std::shared_ptr<StreamContext>& context,
                                                     uint64_t size, ApiStream* stream);
std::unique_ptr<StreamMemory> allocate_pinned_memory(const std::shared_ptr<StreamContext>& context,
                                                     uint64_t size);
/// Pins memory of the caller.
std::unique_ptr<StreamMemory> import_host_memory(const std::shared_ptr<StreamContext>& context,
                                                 void* pointer, uint64_t size);

}  // namespace tenon::sdk
