// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of Vulkan that the plugin calls, looked up at run time: nothing links the loader.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "sdk/helpers/failure.hpp"

#define TENON_VK_GLOBAL(X) \
  X(EnumerateInstanceVersion) X(EnumerateInstanceLayerProperties) X(CreateInstance)

#define TENON_VK_INSTANCE(X)                                                         \
  X(DestroyInstance)                                                                 \
  X(EnumeratePhysicalDevices)                                                        \
  X(EnumerateDeviceExtensionProperties)                                              \
  X(GetPhysicalDeviceProperties2)                                                    \
  X(GetPhysicalDeviceFeatures2) X(GetPhysicalDeviceMemoryProperties)                 \
      X(GetPhysicalDeviceQueueFamilyProperties) X(CreateDevice) X(GetDeviceProcAddr) \
          X(CreateDebugUtilsMessengerEXT) X(DestroyDebugUtilsMessengerEXT)

#define TENON_VK_DEVICE(X)                                                                         \
  X(DestroyDevice)                                                                                 \
  X(DeviceWaitIdle)                                                                                \
  X(GetDeviceQueue)                                                                                \
  X(QueueSubmit)                                                                                   \
  X(AllocateMemory) X(FreeMemory) X(MapMemory) X(GetMemoryHostPointerPropertiesEXT)                \
      X(CreateBuffer) X(DestroyBuffer) X(GetBufferMemoryRequirements) X(BindBufferMemory)          \
          X(CreateSemaphore) X(DestroySemaphore) X(GetSemaphoreCounterValue) X(WaitSemaphores)     \
              X(CreateShaderModule) X(DestroyShaderModule) X(CreateDescriptorSetLayout)            \
                  X(DestroyDescriptorSetLayout) X(CreatePipelineLayout) X(DestroyPipelineLayout)   \
                      X(CreateComputePipelines) X(DestroyPipeline) X(CreatePipelineCache)          \
                          X(DestroyPipelineCache) X(GetPipelineCacheData) X(CreateDescriptorPool)  \
                              X(DestroyDescriptorPool) X(ResetDescriptorPool)                      \
                                  X(AllocateDescriptorSets) X(UpdateDescriptorSets)                \
                                      X(CreateCommandPool) X(DestroyCommandPool)                   \
                                          X(ResetCommandPool) X(AllocateCommandBuffers)            \
                                              X(BeginCommandBuffer) X(EndCommandBuffer)            \
                                                  X(CmdPipelineBarrier) X(CmdBindPipeline)         \
                                                      X(CmdBindDescriptorSets) X(CmdPushConstants) \
                                                          X(CmdDispatch) X(CmdCopyBuffer)          \
                                                              X(CmdFillBuffer) X(CmdUpdateBuffer)

namespace tenon::vulkan {

/// Those of an extension that is not there are null.
struct Functions {
#define X(name) PFN_vk##name name = nullptr;
  TENON_VK_GLOBAL(X) TENON_VK_INSTANCE(X) TENON_VK_DEVICE(X)
#undef X
};

/// The status that the ABI has for a result.
inline tn_status status_of(VkResult result) {
  switch (static_cast<int>(result)) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
      return TN_ERROR_OUT_OF_MEMORY;
    case VK_ERROR_DEVICE_LOST:
      return TN_ERROR_DEVICE_LOST;
    case VK_ERROR_INVALID_EXTERNAL_HANDLE:
      return TN_ERROR_UNSUPPORTED;
    default:
      return TN_ERROR_INTERNAL;
  }
}

/// Throws Failure unless the result is a success; `what` says what was tried, as "allocate".
inline void check(VkResult result, const char* what) {
  if (result < 0)
    throw sdk::Failure(status_of(result), fmt::format("{}: VkResult {}", what, int{result}),
                       result);
}

/// All elements of what Vulkan lists in two calls.
template <class Element, class List>
std::vector<Element> listed(const List& list) {
  std::vector<Element> out;
  uint32_t count = 0;
  if (list(&count, static_cast<Element*>(nullptr)) < 0 || count == 0) return out;
  out.resize(count);
  if (list(&count, out.data()) < 0) count = 0;
  out.resize(count);
  return out;
}

}  // namespace tenon::vulkan
