// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries of a physical device.
#include "plugins/vulkan/adapter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "plugins/vulkan/target.hpp"
#include "sdk/helpers/property_table.hpp"

namespace tenon::vulkan {
namespace {

tn_device_kind kind_of(VkPhysicalDeviceType type) {
  switch (static_cast<int>(type)) {
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return TN_DEVICE_CPU;
    case VK_PHYSICAL_DEVICE_TYPE_OTHER:
      return TN_DEVICE_ACCELERATOR;
    default:
      return TN_DEVICE_GPU;
  }
}

}  // namespace

Features::Features(bool with_subgroup)
    : core(make<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)),
      v11(make<VkPhysicalDeviceVulkan11Features>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES)),
      v12(make<VkPhysicalDeviceVulkan12Features>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)),
      subgroup(make<VkPhysicalDeviceSubgroupSizeControlFeaturesEXT>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT)) {
  core.pNext = &v11;
  v11.pNext = &v12;
  if (with_subgroup) v12.pNext = &subgroup;
}

Adapter::Adapter(const Functions& vk, VkPhysicalDevice physical)
    : handle(physical),
      extensions(listed<VkExtensionProperties>([&](uint32_t* count, VkExtensionProperties* out) {
        return vk.EnumerateDeviceExtensionProperties(physical, nullptr, count, out);
      })),
      core(make<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2)),
      v11(make<VkPhysicalDeviceVulkan11Properties>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES)),
      v12(make<VkPhysicalDeviceVulkan12Properties>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES)),
      subgroup(make<VkPhysicalDeviceSubgroupSizeControlPropertiesEXT>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT)),
      host_import(make<VkPhysicalDeviceExternalMemoryHostPropertiesEXT>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT)),
      sizes(make<VkPhysicalDeviceMaintenance4Properties>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES)),
      features(has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) {
  vk.GetPhysicalDeviceProperties2(handle, &core);
  if (core.properties.apiVersion < VK_API_VERSION_1_2) return;
  core.pNext = &v11;
  v11.pNext = &v12;
  void** tail = &v12.pNext;
  const auto append = [&](const char* extension, auto& properties) {
    if (!has(extension)) return;
    *tail = &properties;
    tail = &properties.pNext;
  };
  append(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, subgroup);
  append(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, host_import);
  append(VK_KHR_MAINTENANCE_4_EXTENSION_NAME, sizes);
  vk.GetPhysicalDeviceProperties2(handle, &core);
  vk.GetPhysicalDeviceFeatures2(handle, &features.core);
  vk.GetPhysicalDeviceMemoryProperties(handle, &memory);
  const auto families =
      listed<VkQueueFamilyProperties>([&](uint32_t* count, VkQueueFamilyProperties* out) {
        vk.GetPhysicalDeviceQueueFamilyProperties(handle, count, out);
        return VK_SUCCESS;
      });
  for (uint32_t i = 0; i < families.size() && family == UINT32_MAX; ++i) {
    if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) family = i;
  }
}

bool Adapter::has(std::string_view extension) const {
  return std::ranges::any_of(extensions,
                             [&](const auto& row) { return row.extensionName == extension; });
}

std::string Adapter::refusal() const {
  const VkPhysicalDeviceProperties& p = core.properties;
  if (p.apiVersion < VK_API_VERSION_1_2)
    return fmt::format("{}: expected Vulkan 1.2, got {}.{}", p.deviceName,
                       VK_API_VERSION_MAJOR(p.apiVersion), VK_API_VERSION_MINOR(p.apiVersion));
  if (family == UINT32_MAX) return fmt::format("{}: has no queue that computes", p.deviceName);
  if (!features.v12.timelineSemaphore)
    return fmt::format("{}: has no timeline semaphores", p.deviceName);
  return {};
}

tn_device_info Adapter::info() const {
  tn_device_info out = sdk::device_info(kind_of(core.properties.deviceType),
                                        core.properties.deviceName, target_of(*this).name(),
                                        fmt::format("{} {}", v12.driverName, v12.driverInfo));
  std::memcpy(out.uuid, v11.deviceUUID, sizeof out.uuid);
  return out;
}

std::string Adapter::identity() const {
  std::string out =
      fmt::format("{}|{}|{:x}:{:x}|{:x}|", v12.driverName, v12.driverInfo, core.properties.vendorID,
                  core.properties.deviceID, core.properties.driverVersion);
  for (const uint8_t byte : core.properties.pipelineCacheUUID) out += fmt::format("{:02x}", byte);
  return out;
}

}  // namespace tenon::vulkan
