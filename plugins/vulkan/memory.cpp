// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs of coherent or device memory: maps need no flush.
#include "plugins/vulkan/memory.hpp"

#include <fmt/format.h>

#include "plugins/vulkan/device.hpp"

namespace tenon::vulkan {

VulkanMemory::VulkanMemory(VulkanDevice& device, uint32_t type, uint64_t size, bool is_mapped)
    : device_(device), size_(size) {
  const Functions& vk = device.vk();
  try {
    make_buffer((size + 3) & ~uint64_t{3}, nullptr);  // whole words, for fills
    VkMemoryRequirements needs;
    vk.GetBufferMemoryRequirements(device.handle(), buffer_, &needs);
    bind({.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
          .allocationSize = needs.size,
          .memoryTypeIndex = type});
    void* mapped = nullptr;
    if (is_mapped)
      device.check(vk.MapMemory(device.handle(), memory_, 0, VK_WHOLE_SIZE, 0, &mapped), "map");
    host_ = static_cast<std::byte*>(mapped);
  } catch (...) {
    release();
    throw;
  }
}

VulkanMemory::VulkanMemory(VulkanDevice& device, void* pointer, uint64_t size)
    : device_(device), size_(size), host_(static_cast<std::byte*>(pointer)) {
  const uint64_t page = device.adapter().host_import.minImportedHostPointerAlignment;
  base_ = reinterpret_cast<uintptr_t>(pointer) % page;
  if (base_ % device.alignment())
    throw sdk::Failure(
        TN_ERROR_UNSUPPORTED,
        fmt::format("memory_import: expected memory aligned to {}", device.alignment()));
  try {
    const auto handle = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    const VkExternalMemoryBufferCreateInfo external{
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = handle};
    const uint64_t bytes = (base_ + size + page - 1) / page * page;
    make_buffer(bytes, &external);
    const VkImportMemoryHostPointerInfoEXT import{
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = handle,
        .pHostPointer = host_ - base_};
    VkMemoryHostPointerPropertiesEXT types{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    const Functions& vk = device.vk();
    device.check(
        vk.GetMemoryHostPointerPropertiesEXT(device.handle(), handle, import.pHostPointer, &types),
        "memory_import");
    VkMemoryRequirements needs;
    vk.GetBufferMemoryRequirements(device.handle(), buffer_, &needs);
    bind({.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
          .pNext = &import,
          .allocationSize = bytes,
          .memoryTypeIndex = device.coherent_type(types.memoryTypeBits & needs.memoryTypeBits)});
  } catch (...) {
    release();
    throw;
  }
}

VulkanMemory::~VulkanMemory() { release(); }

void VulkanMemory::release() {
  device_.vk().DestroyBuffer(device_.handle(), buffer_, nullptr);
  device_.vk().FreeMemory(device_.handle(), memory_, nullptr);
}

void VulkanMemory::make_buffer(uint64_t bytes, const void* next) {
  const VkBufferCreateInfo info{.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                .pNext = next,
                                .size = bytes,
                                .usage = kBufferUsage};
  device_.check(device_.vk().CreateBuffer(device_.handle(), &info, nullptr, &buffer_), "buffer");
}

void VulkanMemory::bind(const VkMemoryAllocateInfo& info) {
  const Functions& vk = device_.vk();
  device_.check(vk.AllocateMemory(device_.handle(), &info, nullptr, &memory_), "memory_allocate");
  device_.check(vk.BindBufferMemory(device_.handle(), buffer_, memory_, 0), "memory_allocate");
}

void* VulkanMemory::map(uint64_t offset, uint64_t) {
  device_.require_alive();
  if (!host_) throw sdk::Failure(TN_ERROR_UNSUPPORTED, "memory_map: the host does not see it");
  return host_ + offset;
}

}  // namespace tenon::vulkan
