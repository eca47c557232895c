// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slab: one allocation, and one buffer over all of it.
#pragma once

#include "plugins/vulkan/functions.hpp"
#include "sdk/helpers/backend.hpp"

namespace tenon::vulkan {

class VulkanDevice;

inline constexpr VkBufferUsageFlags kBufferUsage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                                   VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                                   VK_BUFFER_USAGE_TRANSFER_DST_BIT;

class VulkanMemory : public sdk::Memory {
 public:
  /// Of a memory type; mapped for as long as it lives if `is_mapped`.
  VulkanMemory(VulkanDevice& device, uint32_t type, uint64_t size, bool is_mapped);
  /// The caller's memory: the whole pages around it are imported.
  VulkanMemory(VulkanDevice& device, void* pointer, uint64_t size);
  ~VulkanMemory() override;

  /// Throws TN_ERROR_UNSUPPORTED where the host does not see it.
  void* map(uint64_t offset, uint64_t size) override;
  uint64_t size() const override { return size_; }
  VulkanDevice& device() const { return device_; }
  VkBuffer buffer() const { return buffer_; }
  uint64_t base() const { return base_; }  ///< offset in the buffer of the first byte

 private:
  void make_buffer(uint64_t bytes, const void* next);
  void bind(const VkMemoryAllocateInfo& info);
  void release();

  VulkanDevice& device_;
  const uint64_t size_;
  uint64_t base_ = 0;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  std::byte* host_ = nullptr;
};

}  // namespace tenon::vulkan
