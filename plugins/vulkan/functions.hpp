// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of Vulkan that the plugin calls, looked up at run time: nothing links the loader.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "sdk/helpers/failure.hpp"

#define TENON_VK_GLOBAL(X) \
  X(EnumerateInstanceVersion) X(EnumerateInstanceLayerProperties) X(CreateInstance)

#define TENON_VK_INSTANCE(X)                                                             \
  X(DestroyInstance)                                                                     \
  X(EnumeratePhysicalDevices) X(EnumerateDeviceExtensionProperties)                      \
      X(GetPhysicalDeviceProperties2) X(GetPhysicalDeviceFeatures2)                      \
          X(GetPhysicalDeviceMemoryProperties) X(GetPhysicalDeviceQueueFamilyProperties) \
              X(CreateDevice) X(GetDeviceProcAddr) X(CreateDebugUtilsMessengerEXT)       \
                  X(DestroyDebugUtilsMessengerEXT)

#define TENON_VK_DEVICE(X)                                                                         \
  X(DestroyDevice)                                                                                 \
  X(DeviceWaitIdle) X(GetDeviceQueue) X(QueueSubmit) X(AllocateMemory) X(FreeMemory) X(            \
      MapMemory) X(GetMemoryHostPointerPropertiesEXT) X(CreateBuffer) X(DestroyBuffer)             \
      X(GetBufferMemoryRequirements) X(BindBufferMemory) X(CreateSemaphore) X(DestroySemaphore) X( \
          GetSemaphoreCounterValue) X(WaitSemaphores) X(CreateShaderModule) X(DestroyShaderModule) \
          X(CreateDescriptorSetLayout) X(DestroyDescriptorSetLayout) X(CreatePipelineLayout)       \
              X(DestroyPipelineLayout) X(CreateComputePipelines) X(DestroyPipeline)                \
                  X(CreatePipelineCache) X(DestroyPipelineCache) X(GetPipelineCacheData)           \
                      X(CreateDescriptorPool) X(DestroyDescriptorPool) X(ResetDescriptorPool)      \
                          X(AllocateDescriptorSets) X(UpdateDescriptorSets) X(CreateCommandPool)   \
                              X(DestroyCommandPool) X(ResetCommandPool) X(AllocateCommandBuffers)  \
                                  X(BeginCommandBuffer) X(EndCommandBuffer) X(CmdPipelineBarrier)  \
                                      X(CmdBindPipeline) X(CmdBindDescriptorSets)                  \
                                          X(CmdPushConstants) X(CmdDispatch) X(CmdCopyBuffer)      \
                                              X(CmdFillBuffer) X(CmdUpdateBuffer)

namespace tenon::vulkan {

/// Those of an extension that is not there are null.
struct Functions {
#define X(name) PFN_vk##name name = nullptr;
  TENON_VK_GLOBAL(X) TENON_VK_INSTANCE(X) TENON_VK_DEVICE(X)
#undef X
};

/// Throws Failure unless the result is a success; `what` says what was tried, as "allocate".
inline void check(VkResult result, const char* what) {
  if (result >= 0) return;
  tn_status status = TN_ERROR_INTERNAL;
  switch (static_cast<int>(result)) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
      status = TN_ERROR_OUT_OF_MEMORY;
      break;
    case VK_ERROR_DEVICE_LOST:
      status = TN_ERROR_DEVICE_LOST;
      break;
    case VK_ERROR_INVALID_EXTERNAL_HANDLE:
      status = TN_ERROR_UNSUPPORTED;
  }
  throw sdk::Failure(status, std::string(what) + ": VkResult " + std::to_string(result), result);
}

/// A struct of Vulkan with its sType, all else zero.
template <class Struct>
Struct make(VkStructureType type) {
  Struct out = {};
  out.sType = type;
  return out;
}

/// All elements of what Vulkan lists in two calls.
template <class Element, class List>
std::vector<Element> listed(const List& list) {
  std::vector<Element> out;
  uint32_t count = 0;
  if (list(&count, nullptr) < 0 || count == 0) return out;
  out.resize(count);
  if (list(&count, out.data()) < 0) count = 0;
  out.resize(count);
  return out;
}

}  // namespace tenon::vulkan
