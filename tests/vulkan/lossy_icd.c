/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A Vulkan driver that is lavapipe, but for vkQueueSubmit: that fails with lossy_result while it is
 * not VK_SUCCESS. Tests find the variable with dlsym. */
#include <dlfcn.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vk_icd.h>

__attribute__((visibility("default"))) int lossy_result = 0;

static PFN_vkGetInstanceProcAddr real_instance;
static PFN_vkGetDeviceProcAddr real_device;
static PFN_vkQueueSubmit real_submit;

static void* library(void) {
  static void* handle;
  if (!handle) handle = dlopen("libvulkan_lvp.so", RTLD_NOW | RTLD_LOCAL);
  return handle;
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count,
                                             const VkSubmitInfo* infos, VkFence fence) {
  if (lossy_result != VK_SUCCESS) return (VkResult)lossy_result;
  return real_submit(queue, count, infos, fence);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char* name) {
  PFN_vkVoidFunction found = real_device(device, name);
  if (strcmp(name, "vkQueueSubmit") != 0) return found;
  real_submit = (PFN_vkQueueSubmit)found;
  return (PFN_vkVoidFunction)submit;
}

__attribute__((visibility("default"))) PFN_vkVoidFunction vk_icdGetInstanceProcAddr(
    VkInstance instance, const char* name) {
  if (!library()) return NULL;
  if (!real_instance)
    real_instance = (PFN_vkGetInstanceProcAddr)dlsym(library(), "vk_icdGetInstanceProcAddr");
  PFN_vkVoidFunction found = real_instance(instance, name);
  if (strcmp(name, "vkGetDeviceProcAddr") != 0) return found;
  real_device = (PFN_vkGetDeviceProcAddr)found;
  return (PFN_vkVoidFunction)device_proc;
}

__attribute__((visibility("default"))) VkResult vk_icdNegotiateLoaderICDInterfaceVersion(
    uint32_t* version) {
  if (!library()) return VK_ERROR_INITIALIZATION_FAILED;
  PFN_vkNegotiateLoaderICDInterfaceVersion negotiate =
      (PFN_vkNegotiateLoaderICDInterfaceVersion)dlsym(library(),
                                                      "vk_icdNegotiateLoaderICDInterfaceVersion");
  return negotiate(version);
}
