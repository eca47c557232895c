// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits and features as the ABI's properties.
#include "plugins/vulkan/properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "plugins/vulkan/device.hpp"
#include "sdk/render/scalar_layout.hpp"

namespace tenon::vulkan {
namespace {

constexpr uint32_t kFlags = TN_DEVICE_COMPUTE | TN_DEVICE_ASYNC | TN_DEVICE_DETERMINISTIC |
                            TN_DEVICE_SYMBOLIC | TN_DEVICE_SAVE;
/// Arrays of one thread; more than any GPU has registers for.
constexpr uint32_t kScratchBytes = 16384;

}  // namespace

std::unique_ptr<sdk::PropertyTable> target_properties(const TargetSpec& target) {
  auto table = std::make_unique<sdk::PropertyTable>(kFlags);
  table->claim({TN_OP_NEG, TN_OP_SUB, TN_OP_FDIV, TN_OP_SHL, TN_OP_SHR, TN_OP_CMPEQ, TN_OP_TRUNC,
                TN_OP_FLOOR, TN_OP_FMA, TN_OP_EXP, TN_OP_LN, TN_OP_COS, TN_OP_MIN, TN_OP_BROADCAST,
                TN_OP_EXTRACT, TN_OP_COMPOSE, TN_OP_LANE_REDUCE, TN_OP_BARRIER, TN_OP_ATOMIC});
  if (target.subgroup)
    table->claim({TN_OP_SUBGROUP_SHUFFLE, TN_OP_SUBGROUP_REDUCE, TN_OP_SUBGROUP_BROADCAST});
  table->store_all();
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
  p.max_scratch_bytes = kScratchBytes;
  p.subgroup_min = p.subgroup_max = target.subgroup;
  return table;
}

std::unique_ptr<sdk::PropertyTable> device_properties(const VulkanDevice& device,
                                                      const std::vector<uint32_t>& spaces,
                                                      bool staged) {
  const Adapter& adapter = device.adapter();
  const VkPhysicalDeviceLimits& limits = adapter.limits();
  auto table = target_properties(device.target());
  tn_properties& p = table->fields();
  std::copy_n(limits.maxComputeWorkGroupSize, 3, p.max_workgroup);
  std::copy_n(limits.maxComputeWorkGroupCount, 3, p.max_grid);
  p.max_workgroup_threads = limits.maxComputeWorkGroupInvocations;
  p.max_bindings = std::min({limits.maxPerStageDescriptorStorageBuffers,
                             limits.maxDescriptorSetStorageBuffers, limits.maxPerStageResources});
  p.max_buffer_bytes = limits.maxStorageBufferRange & ~3u;
  p.max_shared_bytes = limits.maxComputeSharedMemorySize;
  if (device.target().subgroup && device.sets_subgroup_size()) {
    p.subgroup_min = adapter.subgroup.minSubgroupSize;
    p.subgroup_max = adapter.subgroup.maxSubgroupSize;
  }
  if (adapter.core.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
    p.compute_units = std::max(1u, std::thread::hardware_concurrency());
  const VkPhysicalDeviceMemoryProperties& memory = adapter.memory;
  for (size_t s = 0; s < spaces.size(); ++s) {
    const VkMemoryType& type = memory.memoryTypes[spaces[s]];
    tn_memory_space space = TN_INIT(tn_memory_space);
    if (type.propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) space.flags |= TN_MEMORY_DEVICE;
    if ((type.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) && !(staged && s == 0)) {
      space.flags |= TN_MEMORY_HOST_VISIBLE | TN_MEMORY_COHERENT;
      if (adapter.host_import.minImportedHostPointerAlignment) space.flags |= TN_MEMORY_IMPORT;
    }
    space.alignment = static_cast<uint32_t>(device.alignment());
    space.total = memory.memoryHeaps[type.heapIndex].size;
    space.largest = std::min(space.total, adapter.v11.maxMemoryAllocationSize);
    space.copy_from = (1u << spaces.size()) - 1;
    table->add_memory(space);
  }
  return table;
}

std::string unsupported(const sdk::ProgramView& program, uint32_t push_constant_bytes) {
  if (const uint32_t bytes = sdk::scalar_layout(program).bytes; bytes > push_constant_bytes)
    return fmt::format("scalars: expected at most {} bytes of push constants, got {}",
                       push_constant_bytes, bytes);
  const tn_program& header = program.header();
  if (header.subgroup_size && header.workgroup[0] % header.subgroup_size)
    return fmt::format("subgroup: expected whole subgroups of {} in rows of {} threads",
                       header.subgroup_size, header.workgroup[0]);
  return {};
}

}  // namespace tenon::vulkan
