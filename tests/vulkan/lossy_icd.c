/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A Vulkan driver that is lavapipe, but for vkQueueSubmit: that fails with lossy_result while it is
 * not VK_SUCCESS. Tests find the variable with dlsym. It also says that it has cooperative
 * matrices, which no shader may use. */
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

/* ---- VK_KHR_cooperative_matrix, which the headers may not have ---- */

static const char kMatrices[] = "VK_KHR_cooperative_matrix";
static PFN_vkEnumerateDeviceExtensionProperties real_extensions;
static PFN_vkGetPhysicalDeviceFeatures2 real_features;
static PFN_vkCreateDevice real_create;

static VKAPI_ATTR VkResult VKAPI_CALL extensions(VkPhysicalDevice device, const char* layer,
                                                 uint32_t* count, VkExtensionProperties* out) {
  const uint32_t room = *count;
  const VkResult result = real_extensions(device, layer, count, out);
  if (layer || result != VK_SUCCESS) return result;
  if (out && *count >= room) return VK_INCOMPLETE;
  if (out) strcpy(out[*count].extensionName, kMatrices);
  ++*count;
  return VK_SUCCESS;
}

typedef struct {
  VkStructureType type;
  void* next;
  VkBool32 has_matrices, has_robust_access;
} MatrixFeatures;

static VKAPI_ATTR void VKAPI_CALL features(VkPhysicalDevice device,
                                           VkPhysicalDeviceFeatures2* out) {
  real_features(device, out);
  for (VkBaseOutStructure* next = out->pNext; next; next = next->pNext)
    if (next->sType == 1000506000) ((MatrixFeatures*)next)->has_matrices = VK_TRUE;
}

static VKAPI_ATTR VkResult VKAPI_CALL create(VkPhysicalDevice device,
                                             const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator,
                                             VkDevice* out) {
  VkDeviceCreateInfo known = *info;
  const char* names[64];
  known.enabledExtensionCount = 0;
  known.ppEnabledExtensionNames = names;
  for (uint32_t i = 0; i < info->enabledExtensionCount; ++i)
    if (strcmp(info->ppEnabledExtensionNames[i], kMatrices) != 0)
      names[known.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
  return real_create(device, &known, allocator, out);
}

typedef struct {
  VkStructureType type;
  void* next;
  uint32_t m, n, k, a, b, c, result, saturates, scope;
} MatrixRow;

static VKAPI_ATTR VkResult VKAPI_CALL matrices(VkPhysicalDevice device, uint32_t* count,
                                               MatrixRow* out) {
  enum { kF16 = 0, kF32 = 1, kI8 = 3, kI32 = 5, kWorkgroup = 2, kSubgroup = 3 };
  static const uint32_t kRows[][9] = {{16, 8, 16, kF16, kF16, kF32, kF32, 0, kSubgroup},
                                      {16, 8, 16, kF16, kF16, kF16, kF16, 0, kSubgroup},
                                      {16, 8, 16, kF16, kF16, kF32, kF32, 0, kWorkgroup},
                                      {16, 8, 32, kI8, kI8, kI32, kI32, 1, kSubgroup},
                                      {16, 16, 32, kI8, kI8, kI32, kI32, 0, kSubgroup}};
  (void)device;
  *count = sizeof kRows / sizeof kRows[0];
  for (uint32_t i = 0; out && i < *count; ++i) memcpy(&out[i].m, kRows[i], sizeof kRows[i]);
  return VK_SUCCESS;
}

static PFN_vkVoidFunction own(const char* name, PFN_vkVoidFunction found) {
  if (strcmp(name, "vkEnumerateDeviceExtensionProperties") == 0) {
    real_extensions = (PFN_vkEnumerateDeviceExtensionProperties)found;
    return (PFN_vkVoidFunction)extensions;
  }
  if (strcmp(name, "vkGetPhysicalDeviceFeatures2") == 0) {
    real_features = (PFN_vkGetPhysicalDeviceFeatures2)found;
    return (PFN_vkVoidFunction)features;
  }
  if (strcmp(name, "vkCreateDevice") == 0) {
    real_create = (PFN_vkCreateDevice)found;
    return (PFN_vkVoidFunction)create;
  }
  if (strcmp(name, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR") == 0)
    return (PFN_vkVoidFunction)matrices;
  return found;
}

/* ---- What the loader asks for ---- */

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
  PFN_vkVoidFunction found = own(name, real_instance(instance, name));
  if (strcmp(name, "vkGetDeviceProcAddr") != 0) return found;
  real_device = (PFN_vkGetDeviceProcAddr)found;
  return (PFN_vkVoidFunction)device_proc;
}

/* The loader asks here for functions of physical devices that it does not know. */
__attribute__((visibility("default"))) PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(
    VkInstance instance, const char* name) {
  return strncmp(name, "vkGetPhysicalDevice", 19) == 0 ? vk_icdGetInstanceProcAddr(instance, name)
                                                       : NULL;
}

__attribute__((visibility("default"))) VkResult vk_icdNegotiateLoaderICDInterfaceVersion(
    uint32_t* version) {
  if (!library()) return VK_ERROR_INITIALIZATION_FAILED;
  PFN_vkNegotiateLoaderICDInterfaceVersion negotiate =
      (PFN_vkNegotiateLoaderICDInterfaceVersion)dlsym(library(),
                                                      "vk_icdNegotiateLoaderICDInterfaceVersion");
  return negotiate(version);
}
