// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Properties and features of a physical device.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "plugins/vulkan/vulkan.hpp"
#include "tenon/plugin.h"

namespace tenon::vulkan {

constexpr VkFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkFlags kCoherent =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

/// Not movable: its structs point to each other.
struct Adapter {
  Adapter(const Functions& vk, VkPhysicalDevice handle);
  Adapter(const Adapter&) = delete;

  const VkPhysicalDeviceLimits& limits() const { return core.properties.limits; }
  /// Alignment of bound buffers, in bytes.
  uint64_t alignment() const {
    return std::max<uint64_t>(limits().minStorageBufferOffsetAlignment, 16);
  }
  /// The best memory type whose bit is in `allowed`, with flags `with` and without flags `without`.
  /// Skips memory that needs flushes, as Vulkan guarantees some that does not.
  std::optional<uint32_t> memory_type(uint32_t allowed, VkFlags with, VkFlags without = 0) const;
  /// Whether a pipeline must require this subgroup size, as it is not the default.
  bool must_set(uint32_t subgroup_size) const { return subgroup_size != v11.subgroupSize; }
  /// Empty, or why it cannot be used.
  std::string refusal() const;
  tn_device_info info() const;
  /// Identifies the build of the driver, for saved pipelines.
  std::string identity() const;

  const VkPhysicalDevice handle;
  std::vector<const char*> extensions;  ///< available ones that the plugin uses
  uint32_t family = UINT32_MAX;         ///< queue family that computes
  uint32_t clock_bits = 0;              ///< of its timestamps, 0: none
  uint32_t units = 0;                   ///< multiprocessors, perhaps estimated; 0 for software
  VkPhysicalDeviceProperties2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  VkPhysicalDeviceVulkan11Properties v11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES};
  VkPhysicalDeviceVulkan12Properties v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
  VkPhysicalDeviceSubgroupSizeControlPropertiesEXT subgroup{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT};
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host_import{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties memory{};
  // Requested features that the device has: a chain from `features`.
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDeviceVulkan11Features f11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
  VkPhysicalDeviceVulkan12Features f12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT size_control{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT};
  MatrixFeatures matrix;
  BrainFeatures brain;
  std::vector<MatrixRow> matrices;  ///< matrix products that shaders may use
};

}  // namespace tenon::vulkan
