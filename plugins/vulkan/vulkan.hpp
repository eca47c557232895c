// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Vulkan functions that the plugin calls, looked up at run time without linking the loader.
#pragma once

#define VK_NO_PROTOTYPES
#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include <vector>

#include "plugins/vulkan/matrix_extension.hpp"
#include "sdk/support/failure.hpp"

// clang-format off
#define TENON_VK_GLOBAL(X) X(EnumerateInstanceVersion) X(EnumerateInstanceLayerProperties) X(CreateInstance)
#define TENON_VK_INSTANCE(X) \
  X(EnumeratePhysicalDevices) X(EnumerateDeviceExtensionProperties) \
  X(GetPhysicalDeviceProperties2) X(GetPhysicalDeviceFeatures2) X(GetPhysicalDeviceMemoryProperties) \
  X(GetPhysicalDeviceQueueFamilyProperties) X(GetPhysicalDeviceCooperativeMatrixPropertiesKHR) X(CreateDevice) X(GetDeviceProcAddr) \
  X(CreateDebugUtilsMessengerEXT)
#define TENON_VK_DEVICE(X) \
  X(DestroyDevice) X(DeviceWaitIdle) X(GetDeviceQueue) X(QueueSubmit) X(AllocateMemory) X(FreeMemory) \
  X(MapMemory) X(GetMemoryHostPointerPropertiesEXT) X(CreateBuffer) X(DestroyBuffer) \
  X(GetBufferMemoryRequirements) X(BindBufferMemory) X(CreateSemaphore) X(DestroySemaphore) \
  X(GetSemaphoreCounterValue) X(WaitSemaphores) X(CreateShaderModule) X(DestroyShaderModule) \
  X(CreateDescriptorSetLayout) X(DestroyDescriptorSetLayout) X(CreatePipelineLayout) \
  X(DestroyPipelineLayout) X(CreateComputePipelines) X(DestroyPipeline) X(CreatePipelineCache) \
  X(DestroyPipelineCache) X(GetPipelineCacheData) X(CreateDescriptorPool) X(DestroyDescriptorPool) \
  X(ResetDescriptorPool) X(AllocateDescriptorSets) X(UpdateDescriptorSets) X(CreateCommandPool) X(DestroyCommandPool) \
  X(ResetCommandPool) X(AllocateCommandBuffers) X(BeginCommandBuffer) X(EndCommandBuffer) \
  X(CmdPipelineBarrier) X(CmdBindPipeline) X(CmdBindDescriptorSets) X(CmdPushConstants) \
  X(CreateQueryPool) X(DestroyQueryPool) X(GetQueryPoolResults) X(CmdResetQueryPool) X(CmdWriteTimestamp) \
  X(CmdDispatch) X(CmdCopyBuffer) X(CmdFillBuffer) X(CmdUpdateBuffer)
// clang-format on

namespace tenon::vulkan {

/// Functions of missing extensions are null.
struct Functions {
#define X(name) PFN_vk##name name = nullptr;
  TENON_VK_GLOBAL(X) TENON_VK_INSTANCE(X) TENON_VK_DEVICE(X)
#undef X
};

/// Owns an object of a device.
template <class Handle>
class Owned {
 public:
  using Destroy = void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*);
  Owned() = default;
  Owned(const Owned&) = delete;
  ~Owned() { reset(); }
  void reset() {
    if (handle_) destroy_(device_, handle_, nullptr);
    handle_ = VK_NULL_HANDLE;
  }
  /// Output pointer for the function that creates it. Destroys the previous object.
  Handle* fill(VkDevice device, Destroy destroy) {
    reset();
    device_ = device;
    destroy_ = destroy;
    return &handle_;
  }
  operator Handle() const { return handle_; }

 private:
  VkDevice device_ = VK_NULL_HANDLE;
  Destroy destroy_ = nullptr;
  Handle handle_ = VK_NULL_HANDLE;
};

/// Throws Failure unless the result is a success. `what` names the operation, as "allocate".
inline void check(VkResult result, const char* what) {
  if (result >= 0) return;
  const bool is_memory = result == VK_ERROR_OUT_OF_HOST_MEMORY ||
                         result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
                         result == VK_ERROR_TOO_MANY_OBJECTS;
  const tn_status status = is_memory                                    ? TN_ERROR_OUT_OF_MEMORY
                           : result == VK_ERROR_DEVICE_LOST             ? TN_ERROR_DEVICE_LOST
                           : result == VK_ERROR_INVALID_EXTERNAL_HANDLE ? TN_ERROR_UNSUPPORTED
                                                                        : TN_ERROR_INTERNAL;
  throw sdk::Failure(status, fmt::format("{}: VkResult {}", what, int{result}), result);
}

/// All elements of a list that Vulkan returns in two calls.
template <class Element, class Count = uint32_t, class List>
std::vector<Element> listed(const List& list) {
  Count count = 0;
  if (list(&count, static_cast<Element*>(nullptr)) < 0) return {};
  std::vector<Element> out(count);
  if (count && list(&count, out.data()) < 0) count = 0;
  out.resize(count);
  return out;
}

}  // namespace tenon::vulkan
