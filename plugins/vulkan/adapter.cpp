// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries a physical device.
#include "plugins/vulkan/adapter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <tuple>

#include "plugins/vulkan/target.hpp"
#include "sdk/backend/property_table.hpp"

namespace tenon::vulkan {
namespace {

/// Number of multiprocessors, from vendor extensions, as Vulkan does not report it. Other GPUs get
/// an assumed number: with one unit, a sum of millions would run in one workgroup.
uint32_t count_units(const Functions& vk, VkPhysicalDevice physical, VkPhysicalDeviceType type,
                     const std::function<bool(const char*)>& has) {
  constexpr uint32_t kDiscrete = 32, kOther = 8;
  const auto ask = [&](auto& more) {
    VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &more, {}};
    vk.GetPhysicalDeviceProperties2(physical, &all);
  };
  uint32_t units = 0;
  if (has(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV, nullptr, 0, 0};
    ask(nvidia);
    units = nvidia.shaderSMCount;
  } else if (has(VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) {
    VkPhysicalDeviceShaderCorePropertiesAMD amd{};
    amd.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD;
    ask(amd);
    units = amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray;
  } else if (has(VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME)) {
    VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm{};
    arm.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM;
    ask(arm);
    units = arm.shaderCoreCount;
  }
  if (units > 0) return units;
  return type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ? kDiscrete : kOther;
}

}  // namespace

Adapter::Adapter(const Functions& vk, VkPhysicalDevice physical) : handle(physical) {
  vk.GetPhysicalDeviceProperties2(handle, &core);
  if (core.properties.apiVersion < VK_API_VERSION_1_2) return;
  core.pNext = &v11;
  v11.pNext = &v12;
  features.pNext = &f11;
  f11.pNext = &f12;
  const auto all = listed<VkExtensionProperties>([&](auto* count, auto* out) {
    return vk.EnumerateDeviceExtensionProperties(handle, nullptr, count, out);
  });
  const auto has = [&](const char* name) {
    return std::ranges::any_of(
        all, [&](const auto& row) { return std::string_view(row.extensionName) == name; });
  };
  const auto uses = [&](const char* name) {
    const bool is_there = has(name);
    if (is_there) extensions.push_back(name);
    return is_there;
  };
  const VkPhysicalDeviceType type = core.properties.deviceType;
  if (type != VK_PHYSICAL_DEVICE_TYPE_CPU) units = count_units(vk, handle, type, has);
  void** end = &f12.pNext;
  const auto ask = [&](auto& more) {
    *end = &more;
    end = &more.pNext;
  };
  if (uses(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) {
    v12.pNext = &subgroup;
    ask(size_control);
  }
  if (uses(kMatrixExtension)) ask(matrix);
  if (uses(kBrainExtension)) ask(brain);
  if (uses(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME))
    (v12.pNext ? subgroup.pNext : v12.pNext) = &host_import;
  vk.GetPhysicalDeviceProperties2(handle, &core);
  vk.GetPhysicalDeviceFeatures2(handle, &features);
  features.features = {.shaderFloat64 = features.features.shaderFloat64,
                       .shaderInt64 = features.features.shaderInt64,
                       .shaderInt16 = features.features.shaderInt16};
  f11 = {f11.sType, f11.pNext, f11.storageBuffer16BitAccess};
  // Matrices need the Vulkan memory model, with which other kernels need device scope.
  matrix.has_matrices &= f12.vulkanMemoryModel & f12.vulkanMemoryModelDeviceScope;
  matrix.has_robust_access = brain.has_dot = VK_FALSE;
  f12 = {.sType = f12.sType,
         .pNext = f12.pNext,
         .storageBuffer8BitAccess = f12.storageBuffer8BitAccess,
         .shaderFloat16 = f12.shaderFloat16,
         .shaderInt8 = f12.shaderInt8,
         .shaderSubgroupExtendedTypes = f12.shaderSubgroupExtendedTypes,
         .timelineSemaphore = VK_TRUE,
         .vulkanMemoryModel = matrix.has_matrices,
         .vulkanMemoryModelDeviceScope = matrix.has_matrices};
  if (matrix.has_matrices) {
    matrices = listed<MatrixRow>([&](auto* count, auto* out) {
      return vk.GetPhysicalDeviceCooperativeMatrixPropertiesKHR(handle, count, out);
    });
  }
  vk.GetPhysicalDeviceMemoryProperties(handle, &memory);
  const auto families = listed<VkQueueFamilyProperties>([&](auto* count, auto* out) {
    vk.GetPhysicalDeviceQueueFamilyProperties(handle, count, out);
    return VK_SUCCESS;
  });
  const auto computes = std::ranges::find_if(
      families, [](const auto& row) { return row.queueFlags & VK_QUEUE_COMPUTE_BIT; });
  if (computes == families.end()) return;
  family = static_cast<uint32_t>(computes - families.begin());
  clock_bits = computes->timestampValidBits;
}

std::optional<uint32_t> Adapter::memory_type(uint32_t allowed, VkFlags with,
                                             VkFlags without) const {
  constexpr VkFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  const VkFlags others = without | ~(kLocal | kCoherent | kCached);
  std::optional<std::tuple<VkFlags, VkDeviceSize, uint32_t>> best;
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryType& type = memory.memoryTypes[i];
    if ((type.propertyFlags & (with | others)) != with || !(allowed >> i & 1)) continue;
    const std::tuple rank(type.propertyFlags & kCached, memory.memoryHeaps[type.heapIndex].size, i);
    if (!best || rank > *best) best = rank;
  }
  return best ? std::optional(std::get<2>(*best)) : std::nullopt;
}

std::string Adapter::refusal() const {
  const VkPhysicalDeviceProperties& p = core.properties;
  if (p.apiVersion < VK_API_VERSION_1_2)
    return fmt::format("{}: expected Vulkan 1.2, got {}.{}", p.deviceName,
                       VK_API_VERSION_MAJOR(p.apiVersion), VK_API_VERSION_MINOR(p.apiVersion));
  return family == UINT32_MAX ? fmt::format("{}: no queue computes", p.deviceName) : "";
}

tn_device_info Adapter::info() const {
  const VkPhysicalDeviceType type = core.properties.deviceType;
  const tn_device_kind kind = type == VK_PHYSICAL_DEVICE_TYPE_CPU     ? TN_DEVICE_CPU
                              : type == VK_PHYSICAL_DEVICE_TYPE_OTHER ? TN_DEVICE_ACCELERATOR
                                                                      : TN_DEVICE_GPU;
  tn_device_info out = sdk::device_info(kind, core.properties.deviceName, target_of(*this).name(),
                                        fmt::format("{} {}", v12.driverName, v12.driverInfo));
  std::memcpy(out.uuid, v11.deviceUUID, sizeof out.uuid);
  return out;
}

std::string Adapter::identity() const {
  const VkPhysicalDeviceProperties& p = core.properties;
  return fmt::format("{}|{}|{:x}:{:x}|{:x}|{:02x}", v12.driverName, v12.driverInfo, p.vendorID,
                     p.deviceID, p.driverVersion, fmt::join(p.pipelineCacheUUID, ""));
}

}  // namespace tenon::vulkan
