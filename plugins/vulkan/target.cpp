// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Features and limits of Vulkan as the ABI's properties.
#include "plugins/vulkan/target.hpp"

#include <algorithm>
#include <thread>

#include "sdk/render/scalar_layout.hpp"

namespace tenon::vulkan {
namespace {

constexpr uint32_t kFlags = TN_DEVICE_COMPUTE | TN_DEVICE_ASYNC | TN_DEVICE_DETERMINISTIC |
                            TN_DEVICE_SYMBOLIC | TN_DEVICE_SAVE;
constexpr VkSubgroupFeatureFlags kSubgroups = VK_SUBGROUP_FEATURE_BASIC_BIT |
                                              VK_SUBGROUP_FEATURE_BALLOT_BIT |
                                              VK_SUBGROUP_FEATURE_SHUFFLE_BIT;

struct Row {
  std::string_view name;
  bool TargetSpec::*member;
};
constexpr Row kRows[] = {{"+i8", &TargetSpec::i8},
                         {"+i16", &TargetSpec::i16},
                         {"+i64", &TargetSpec::i64},
                         {"+f64", &TargetSpec::f64},
                         {"+specials", &TargetSpec::specials},
                         {"+denormals", &TargetSpec::denormals},
                         {"+rte", &TargetSpec::rounding},
                         {"+software", &TargetSpec::is_software}};

}  // namespace

std::string TargetSpec::name() const {
  std::string out = "spirv1.5";
  for (const Row& row : kRows) out += this->*row.member ? row.name : "";
  return subgroup ? fmt::format("{}+subgroup{}", out, subgroup) : out;
}

TargetSpec target_of(const Adapter& adapter) {
  const VkPhysicalDeviceFeatures& core = adapter.features.features;
  const VkPhysicalDeviceVulkan12Properties& floats = adapter.v12;
  TargetSpec target;
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
  return target;
}

std::optional<TargetSpec> find_target(std::string_view name) {
  TargetSpec target;
  if (name == target.name()) return target;
  if (name != "vulkan1.2") return std::nullopt;
  for (const Row& row : kRows) target.*row.member = row.member != &TargetSpec::is_software;
  return target;
}

std::unique_ptr<sdk::PropertyTable> target_properties(const TargetSpec& target) {
  auto table = std::make_unique<sdk::PropertyTable>(kFlags);
  table->claim({TN_OP_NEG, TN_OP_SUB, TN_OP_FDIV, TN_OP_SHL, TN_OP_SHR, TN_OP_CMPEQ, TN_OP_TRUNC,
                TN_OP_FLOOR, TN_OP_FMA, TN_OP_EXP, TN_OP_LN, TN_OP_COS, TN_OP_MIN, TN_OP_BROADCAST,
                TN_OP_EXTRACT, TN_OP_COMPOSE, TN_OP_LANE_REDUCE, TN_OP_BARRIER, TN_OP_ATOMIC});
  if (target.subgroup)
    table->claim({TN_OP_SUBGROUP_SHUFFLE, TN_OP_SUBGROUP_REDUCE, TN_OP_SUBGROUP_BROADCAST});
  table->store_all().atomics({TN_DTYPE_I32, TN_DTYPE_U32});
  table->compute({TN_DTYPE_BOOL, TN_DTYPE_I8, TN_DTYPE_I16, TN_DTYPE_I32, TN_DTYPE_U8, TN_DTYPE_U16,
                  TN_DTYPE_U32, TN_DTYPE_F32});
  if (target.i64) table->compute({TN_DTYPE_I64, TN_DTYPE_U64});
  if (target.f64) table->compute({TN_DTYPE_F64});
  table->workgroup(128, 128, 64, 128);
  tn_properties& p = table->fields();
  p.accuracy = TN_ACCURACY_RELAXED;
  if (!target.denormals) p.numerics = TN_NUMERICS_FLUSH_INPUT | TN_NUMERICS_FLUSH_OUTPUT;
  if (!target.specials)
    p.numerics |= TN_NUMERICS_NO_NAN | TN_NUMERICS_NO_INF | TN_NUMERICS_NO_SIGNED_ZERO;
  p.index_bits = 32;
  p.storage_bytes = target.i8 && target.i16 ? 1 : 4;
  std::fill_n(p.max_grid, 3, 65535u);
  p.max_bindings = 4;
  p.max_buffer_bytes = uint64_t{1} << 27;
  p.max_shared_bytes = 16384;
  p.max_scratch_bytes = 16384;  // arrays of one thread; more than any GPU has registers for
  p.subgroup_min = p.subgroup_max = target.subgroup;
  return table;
}

std::unique_ptr<sdk::PropertyTable> device_properties(const Adapter& adapter,
                                                      const TargetSpec& target, uint64_t alignment,
                                                      const std::vector<uint32_t>& spaces,
                                                      bool staged) {
  const VkPhysicalDeviceLimits& limits = adapter.limits();
  auto table = target_properties(target);
  tn_properties& p = table->fields();
  std::copy_n(limits.maxComputeWorkGroupSize, 3, p.max_workgroup);
  std::copy_n(limits.maxComputeWorkGroupCount, 3, p.max_grid);
  p.max_workgroup_threads = limits.maxComputeWorkGroupInvocations;
  p.max_bindings = std::min({limits.maxPerStageDescriptorStorageBuffers,
                             limits.maxDescriptorSetStorageBuffers, limits.maxPerStageResources});
  p.max_buffer_bytes = limits.maxStorageBufferRange & ~3u;
  p.max_shared_bytes = limits.maxComputeSharedMemorySize;
  if (target.subgroup && adapter.size_control.subgroupSizeControl) {
    p.subgroup_min = adapter.subgroup.minSubgroupSize;
    p.subgroup_max = adapter.subgroup.maxSubgroupSize;
  }
  if (adapter.core.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
    p.compute_units = std::max(1u, std::thread::hardware_concurrency());
  for (size_t s = 0; s < spaces.size(); ++s) {
    const VkMemoryType& type = adapter.memory.memoryTypes[spaces[s]];
    tn_memory_space space = TN_INIT(tn_memory_space);
    if (type.propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) space.flags |= TN_MEMORY_DEVICE;
    if ((type.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) && !(staged && s == 0)) {
      space.flags |= TN_MEMORY_HOST_VISIBLE | TN_MEMORY_COHERENT;
      if (adapter.host_import.minImportedHostPointerAlignment) space.flags |= TN_MEMORY_IMPORT;
    }
    space.alignment = static_cast<uint32_t>(alignment);
    space.total = adapter.memory.memoryHeaps[type.heapIndex].size;
    space.largest = std::min(space.total, adapter.v11.maxMemoryAllocationSize);
    space.copy_from = (1u << spaces.size()) - 1;
    table->add_memory(space);
  }
  return table;
}

std::string unsupported(const sdk::ProgramView& program, const Adapter* adapter) {
  const uint32_t most = adapter ? adapter->limits().maxPushConstantsSize : 128;  // of every device
  if (const uint32_t bytes = sdk::scalar_layout(program).bytes; bytes > most)
    return fmt::format("scalars: expected at most {} bytes of push constants, got {}", most, bytes);
  const tn_program& header = program.header();
  const uint32_t size = header.subgroup_size;
  if (size == 0) return {};
  if (header.workgroup[0] % size)
    return fmt::format("subgroup: expected rows of whole subgroups of {} threads, got {}", size,
                       header.workgroup[0]);
  const uint32_t groups = header.workgroup[0] * header.workgroup[1] * header.workgroup[2] / size;
  if (adapter && adapter->must_set(size) && groups > adapter->subgroup.maxComputeWorkgroupSubgroups)
    return fmt::format("subgroup: expected at most {} of {} threads in a workgroup, got {}",
                       adapter->subgroup.maxComputeWorkgroupSubgroups, size, groups);
  return {};
}

}  // namespace tenon::vulkan
