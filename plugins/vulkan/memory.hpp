// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slab: one allocation, and one buffer over all of it.
#pragma once

#include "plugins/vulkan/vulkan.hpp"
#include "sdk/backend/backend.hpp"

namespace tenon::vulkan {

class VulkanDevice;

/// Creates a buffer in `out`, and returns its memory requirements.
VkMemoryRequirements make_buffer(VulkanDevice& device, uint64_t bytes, const void* next,
                                 Owned<VkBuffer>& out);

class VulkanMemory : public sdk::Memory {
 public:
  /// Allocates memory of a type; mapped during its lifetime if `is_mapped`.
  VulkanMemory(VulkanDevice& device, uint32_t type, uint64_t size, bool is_mapped);
  /// Imports memory of the caller, with the whole pages around it.
  VulkanMemory(VulkanDevice& device, void* pointer, uint64_t size);

  /// Throws TN_ERROR_UNSUPPORTED if the host cannot see it.
  void* map(uint64_t offset, uint64_t size) override;
  uint64_t size() const override { return size_; }
  VulkanDevice& device() const { return device_; }
  VkBuffer buffer() const { return buffer_; }
  uint64_t base() const { return base_; }  ///< offset in the buffer of the first byte

 private:
  void bind(uint64_t bytes, uint32_t type, const void* next);

  VulkanDevice& device_;
  const uint64_t size_;
  uint64_t base_ = 0;
  Owned<VkDeviceMemory> memory_;
  Owned<VkBuffer> buffer_;
  std::byte* host_ = nullptr;
};

}  // namespace tenon::vulkan
