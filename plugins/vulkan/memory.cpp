// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs of coherent or device memory: maps need no flush.
#include "plugins/vulkan/memory.hpp"

#include "plugins/vulkan/batch.hpp"
#include "plugins/vulkan/device.hpp"

namespace tenon::vulkan {

VulkanMemory::VulkanMemory(VulkanDevice& device, uint32_t type, uint64_t size, bool is_mapped)
    : device_(device), size_(size) {
  bind(make_buffer(device, sdk::whole_words(size), nullptr, buffer_).size, type, nullptr);
  if (!is_mapped) return;
  void* mapped = nullptr;
  device.check(device.vk().MapMemory(device.handle(), memory_, 0, VK_WHOLE_SIZE, 0, &mapped),
               "map");
  host_ = static_cast<std::byte*>(mapped);
}

VulkanMemory::VulkanMemory(VulkanDevice& device, void* pointer, uint64_t size)
    : device_(device), size_(size), host_(static_cast<std::byte*>(pointer)) {
  constexpr auto kHandle = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  const uint64_t page = device.adapter().host_import.minImportedHostPointerAlignment;
  base_ = reinterpret_cast<uintptr_t>(pointer) % page;
  if (base_ % device.adapter().alignment())
    throw sdk::Failure(
        TN_ERROR_UNSUPPORTED,
        fmt::format("memory_import: expected memory aligned to {}", device.adapter().alignment()));
  const uint64_t bytes = (base_ + size + page - 1) / page * page;
  const VkExternalMemoryBufferCreateInfo external{
      VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, nullptr, kHandle};
  const VkImportMemoryHostPointerInfoEXT import{
      VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT, nullptr, kHandle, host_ - base_};
  VkMemoryHostPointerPropertiesEXT types{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  device.check(device.vk().GetMemoryHostPointerPropertiesEXT(device.handle(), kHandle,
                                                             import.pHostPointer, &types),
               "memory_import");
  const uint32_t allowed = make_buffer(device, bytes, &external, buffer_).memoryTypeBits;
  const auto type = device.adapter().memory_type(allowed & types.memoryTypeBits, kCoherent);
  if (!type) throw sdk::Failure(TN_ERROR_UNSUPPORTED, "memory_import: the device cannot take it");
  bind(bytes, *type, &import);
}

VkMemoryRequirements make_buffer(VulkanDevice& device, uint64_t bytes, const void* next,
                                 Owned<VkBuffer>& out) {
  const Functions& vk = device.vk();
  constexpr VkBufferUsageFlags kUsage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  const VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, next, 0, bytes, kUsage};
  device.make(vk.CreateBuffer, vk.DestroyBuffer, info, out, "memory_allocate");
  VkMemoryRequirements needs;
  vk.GetBufferMemoryRequirements(device.handle(), out, &needs);
  return needs;
}

void VulkanMemory::bind(uint64_t bytes, uint32_t type, const void* next) {
  const Functions& vk = device_.vk();
  const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, next, bytes, type};
  device_.make(vk.AllocateMemory, vk.FreeMemory, info, memory_, "memory_allocate");
  device_.check(vk.BindBufferMemory(device_.handle(), buffer_, memory_, 0), "memory_allocate");
}

void* VulkanMemory::map(uint64_t offset, uint64_t) {
  device_.require_alive();
  if (!host_) throw sdk::Failure(TN_ERROR_UNSUPPORTED, "memory_map: the host does not see it");
  return host_ + offset;
}

}  // namespace tenon::vulkan
