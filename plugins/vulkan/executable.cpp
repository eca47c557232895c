// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/vulkan/executable.hpp"

#include "plugins/vulkan/device.hpp"

namespace tenon::vulkan {
namespace {

constexpr VkPipelineShaderStageCreateFlags kFullSubgroups =
    VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;

}  // namespace

VulkanExecutable::VulkanExecutable(const sdk::SpirvCode& code, VulkanDevice* device)
    : SpirvExecutable(code, device, identity(device)), device_(device) {
  if (!device_) return;
  device_->require_alive();
  make_layouts();
  make_pipeline(code.driver_data);
  device_->check_messages();
}

std::string VulkanExecutable::identity(const VulkanDevice* device) {
  return fmt::format("tenon vulkan {}|{}", TENON_VERSION,
                     device ? device->adapter().identity() : "");
}

std::vector<std::byte> VulkanExecutable::driver_data() const {
  if (!device_) return {};
  device_->require_alive();
  return listed<std::byte, size_t>([&](auto* size, auto* out) {
    return device_->vk().GetPipelineCacheData(device_->handle(), cache_, size, out);
  });
}

void VulkanExecutable::make_layouts() {
  const Functions& vk = device_->vk();
  std::vector<VkDescriptorSetLayoutBinding> rows;
  for (uint32_t i = 0; i < bindings().buffer_count(); ++i)
    rows.push_back({i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
  const VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                            nullptr, 0, bindings().buffer_count(), rows.data()};
  device_->make(vk.CreateDescriptorSetLayout, vk.DestroyDescriptorSetLayout, set, set_layout_,
                "compile");
  const VkDescriptorSetLayout sets[] = {set_layout_};
  const VkPushConstantRange scalars{VK_SHADER_STAGE_COMPUTE_BIT, 0, bindings().scalar_bytes()};
  const uint32_t ranges = scalars.size ? 1 : 0;
  const VkPipelineLayoutCreateInfo info{
      VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, nullptr, 0, 1, sets, ranges, &scalars};
  device_->make(vk.CreatePipelineLayout, vk.DestroyPipelineLayout, info, layout_, "compile");
}

void VulkanExecutable::make_pipeline(std::span<const std::byte> data) {
  const Functions& vk = device_->vk();
  const VkDevice device = device_->handle();
  const VkPipelineCacheCreateInfo cache_info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, nullptr,
                                             0, data.size(), data.data()};
  device_->make(vk.CreatePipelineCache, vk.DestroyPipelineCache, cache_info, cache_, "compile");
  const VkShaderModuleCreateInfo code{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0,
                                      words().size_bytes(), words().data()};
  Owned<VkShaderModule> module;
  device_->make(vk.CreateShaderModule, vk.DestroyShaderModule, code, module, "compile");
  const VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT subgroup{
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT, nullptr,
      program().header().subgroup_size};
  const uint32_t size = subgroup.requiredSubgroupSize;
  const VkPipelineShaderStageCreateInfo stage{
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
      size && device_->adapter().must_set(size) ? &subgroup : nullptr,
      size ? kFullSubgroups : 0,
      VK_SHADER_STAGE_COMPUTE_BIT,
      module,
      "main"};
  const VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, nullptr, 0,
                                         stage, layout_};
  device_->check(vk.CreateComputePipelines(device, cache_, 1, &info, nullptr,
                                           pipeline_.fill(device, vk.DestroyPipeline)),
                 "compile");
}

}  // namespace tenon::vulkan
