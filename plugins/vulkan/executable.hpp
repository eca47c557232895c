// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program as SPIR-V, and a pipeline if there is a device.
#pragma once

#include "plugins/vulkan/vulkan.hpp"
#include "sdk/spirv/executable.hpp"

namespace tenon::vulkan {

class VulkanDevice;

class VulkanExecutable : public sdk::SpirvExecutable {
 public:
  /// `device` null: there is no pipeline to launch.
  VulkanExecutable(const sdk::SpirvCode& code, VulkanDevice* device);
  /// Identity of saved code with a pipeline.
  static std::string identity(const VulkanDevice* device);

  VkDescriptorSetLayout set_layout() const { return set_layout_; }
  VkPipelineLayout layout() const { return layout_; }
  VkPipeline pipeline() const { return pipeline_; }

 private:
  std::vector<std::byte> driver_data() const override;
  void make_layouts();
  /// `data` is the pipeline cache of a saved pipeline.
  void make_pipeline(std::span<const std::byte> data);

  VulkanDevice* const device_;
  Owned<VkDescriptorSetLayout> set_layout_;
  Owned<VkPipelineLayout> layout_;
  Owned<VkPipelineCache> cache_;
  Owned<VkPipeline> pipeline_;
};

}  // namespace tenon::vulkan
