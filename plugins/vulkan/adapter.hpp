// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a physical device says of itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/vulkan/functions.hpp"
#include "tenon/plugin.h"

namespace tenon::vulkan {

/// What the plugin asks for, as one chain.
struct Features {
  VkPhysicalDeviceFeatures2 core;
  VkPhysicalDeviceVulkan11Features v11;
  VkPhysicalDeviceVulkan12Features v12;
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT subgroup;
  explicit Features(bool with_subgroup);
  Features(const Features&) = delete;
};

/// Stays where it was made: its structs point to each other.
struct Adapter {
  Adapter(const Functions& vk, VkPhysicalDevice handle);
  Adapter(const Adapter&) = delete;

  bool has(std::string_view extension) const;
  const VkPhysicalDeviceLimits& limits() const { return core.properties.limits; }
  /// Empty, or why it cannot be used.
  std::string refusal() const;
  tn_device_info info() const;
  /// Of the driver's build: what saved pipelines are for.
  std::string identity() const;

  VkPhysicalDevice handle;
  std::vector<VkExtensionProperties> extensions;
  VkPhysicalDeviceProperties2 core;
  VkPhysicalDeviceVulkan11Properties v11;
  VkPhysicalDeviceVulkan12Properties v12;
  VkPhysicalDeviceSubgroupSizeControlPropertiesEXT subgroup;
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host_import;
  VkPhysicalDeviceMaintenance4Properties sizes;
  VkPhysicalDeviceMemoryProperties memory;
  uint32_t family = UINT32_MAX;  ///< of queues that compute
  Features features;
};

}  // namespace tenon::vulkan
