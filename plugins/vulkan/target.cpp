// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts features and limits of Vulkan to properties of the ABI.
#include "plugins/vulkan/target.hpp"

#include <algorithm>

#include "sdk/render/glsl_matrix.hpp"
#include "sdk/shader/properties.hpp"

namespace tenon::vulkan {
namespace {

constexpr VkSubgroupFeatureFlags kSubgroups = VK_SUBGROUP_FEATURE_BASIC_BIT |
                                              VK_SUBGROUP_FEATURE_BALLOT_BIT |
                                              VK_SUBGROUP_FEATURE_SHUFFLE_BIT;

/// By VkComponentTypeKHR, for types whose products have error bounds.
constexpr struct {
  uint32_t component;
  tn_dtype dtype;
} kComponents[] = {{0, TN_DTYPE_F16},          {1, TN_DTYPE_F32}, {3, TN_DTYPE_I8},
                   {5, TN_DTYPE_I32},          {7, TN_DTYPE_U8},  {9, TN_DTYPE_U32},
                   {1000141000, TN_DTYPE_BF16}};

uint32_t dtype_of(uint32_t component) {
  for (const auto& row : kComponents)
    if (row.component == component) return row.dtype;
  return TN_DTYPE_VOID;
}

std::vector<tn_matrix_atom> atoms_of(const Adapter& adapter) {
  std::vector<tn_matrix_atom> atoms;
  const VkPhysicalDeviceVulkan12Properties& floats = adapter.v12;
  for (const MatrixRow& row : adapter.matrices) {
    const uint32_t a = dtype_of(row.a);
    const bool is_half = a == TN_DTYPE_F16, is_brain = a == TN_DTYPE_BF16;
    if (row.scope != kSubgroupScope || row.saturates || row.c != row.result) continue;
    if (is_half && !adapter.f12.shaderFloat16) continue;
    if (is_brain && !(adapter.brain.has_type && adapter.brain.has_matrices)) continue;
    // Vulkan says nothing of denormals of bf16; NVIDIA's units keep them (decision 7).
    const bool keeps = is_brain ? floats.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY
                                : floats.shaderDenormPreserveFloat16;
    const auto atom =
        sdk::glsl_atom(row.m, row.n, row.k, a, dtype_of(row.b), dtype_of(row.c),
                       adapter.v11.subgroupSize, keeps && floats.shaderDenormPreserveFloat32);
    if (atom) atoms.push_back(*atom);
  }
  return atoms;
}

}  // namespace

sdk::SpirvTarget target_of(const Adapter& adapter) {
  const VkPhysicalDeviceFeatures& core = adapter.features.features;
  const VkPhysicalDeviceVulkan12Properties& floats = adapter.v12;
  sdk::SpirvTarget target;
  target.i8 = adapter.f12.storageBuffer8BitAccess && adapter.f12.shaderInt8;
  target.i16 = adapter.f11.storageBuffer16BitAccess && core.shaderInt16;
  target.i64 = core.shaderInt64;
  target.is_software = adapter.core.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  target.f64 = core.shaderFloat64 && target.i64;
  const auto both = [&](VkBool32 f32, VkBool32 f64) { return f32 && (f64 || !target.f64); };
  target.specials = both(floats.shaderSignedZeroInfNanPreserveFloat32,
                         floats.shaderSignedZeroInfNanPreserveFloat64);
  target.denormals = both(floats.shaderDenormPreserveFloat32, floats.shaderDenormPreserveFloat64);
  target.rounding = both(floats.shaderRoundingModeRTEFloat32, floats.shaderRoundingModeRTEFloat64);
  if ((adapter.v11.subgroupSupportedOperations & kSubgroups) == kSubgroups &&
      (adapter.v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
      adapter.f12.shaderSubgroupExtendedTypes && adapter.size_control.computeFullSubgroups)
    target.subgroup = adapter.v11.subgroupSize;
  if (target.subgroup && target.i8 && target.i16) target.atoms = atoms_of(adapter);
  return target;
}

std::unique_ptr<sdk::PropertyTable> device_properties(const Adapter& adapter,
                                                      const sdk::SpirvTarget& target,
                                                      const std::vector<uint32_t>& spaces,
                                                      bool staged) {
  const VkPhysicalDeviceLimits& limits = adapter.limits();
  auto table = sdk::spirv_properties(target);
  tn_properties& p = table->fields();
  std::copy_n(limits.maxComputeWorkGroupSize, 3, p.max_workgroup);
  std::copy_n(limits.maxComputeWorkGroupCount, 3, p.max_grid);
  p.max_workgroup_threads = limits.maxComputeWorkGroupInvocations;
  p.max_bindings = std::min({limits.maxPerStageDescriptorStorageBuffers,
                             limits.maxDescriptorSetStorageBuffers, limits.maxPerStageResources});
  p.max_buffer_bytes = limits.maxStorageBufferRange & ~3u;
  p.max_shared_bytes = limits.maxComputeSharedMemorySize;
  if (adapter.units) p.compute_units = adapter.units;
  const bool is_llvmpipe = adapter.v12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
  p.max_loop_trips = is_llvmpipe ? sdk::kLlvmpipeLoopTrips : 0;
  if (target.subgroup && adapter.size_control.subgroupSizeControl) {
    p.subgroup_min = adapter.subgroup.minSubgroupSize;
    p.subgroup_max = adapter.subgroup.maxSubgroupSize;
  }
  for (size_t s = 0; s < spaces.size(); ++s) {
    const VkMemoryType& type = adapter.memory.memoryTypes[spaces[s]];
    tn_memory_space space = TN_INIT(tn_memory_space);
    if (type.propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) space.flags |= TN_MEMORY_DEVICE;
    if ((type.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) && !(staged && s == 0)) {
      space.flags |= TN_MEMORY_HOST_VISIBLE | TN_MEMORY_COHERENT;
      if (adapter.host_import.minImportedHostPointerAlignment) space.flags |= TN_MEMORY_IMPORT;
    }
    space.alignment = static_cast<uint32_t>(adapter.alignment());
    space.total = adapter.memory.memoryHeaps[type.heapIndex].size;
    space.largest = std::min(space.total, adapter.v11.maxMemoryAllocationSize);
    space.copy_from = (1u << spaces.size()) - 1;
    table->add_memory(space);
  }
  return table;
}

sdk::SpirvLimits limits_of(const Adapter& adapter) {
  return {adapter.limits().maxPushConstantsSize, adapter.v11.subgroupSize,
          adapter.subgroup.maxComputeWorkgroupSubgroups};
}

}  // namespace tenon::vulkan
