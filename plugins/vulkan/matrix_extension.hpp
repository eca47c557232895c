// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// VK_KHR_cooperative_matrix and VK_KHR_shader_bfloat16, which the headers of Debian 12 lack.
#pragma once

#include <vulkan/vulkan_core.h>

namespace tenon::vulkan {

constexpr char kMatrixExtension[] = "VK_KHR_cooperative_matrix";
constexpr char kBrainExtension[] = "VK_KHR_shader_bfloat16";

struct MatrixFeatures {
  VkStructureType type = static_cast<VkStructureType>(1000506000);
  void* pNext = nullptr;
  VkBool32 has_matrices = VK_FALSE, has_robust_access = VK_FALSE;
};
struct BrainFeatures {
  VkStructureType type = static_cast<VkStructureType>(1000141000);
  void* pNext = nullptr;
  VkBool32 has_type = VK_FALSE, has_dot = VK_FALSE, has_matrices = VK_FALSE;
};

/// A matrix product of a device; a, b, c and result are component types.
struct MatrixRow {
  VkStructureType type = static_cast<VkStructureType>(1000506001);
  void* pNext = nullptr;
  uint32_t m = 0, n = 0, k = 0;
  uint32_t a = 0, b = 0, c = 0, result = 0;
  VkBool32 saturates = VK_FALSE;
  uint32_t scope = 0;
};
constexpr uint32_t kSubgroupScope = 3;

using PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR = VkResult(VKAPI_PTR*)(VkPhysicalDevice,
                                                                                   uint32_t*,
                                                                                   MatrixRow*);

}  // namespace tenon::vulkan
