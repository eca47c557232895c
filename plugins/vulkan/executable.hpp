// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program as SPIR-V, and as a pipeline where there is a device.
#pragma once

#include <memory>
#include <vector>

#include "plugins/vulkan/target.hpp"
#include "sdk/helpers/launch.hpp"
#include "sdk/helpers/program_builder.hpp"
#include "sdk/render/scalar_layout.hpp"

namespace tenon::vulkan {

class VulkanDevice;

class VulkanExecutable : public sdk::Executable {
 public:
  using Bytes = std::span<const std::byte>;

  /// `device` may be null: then there is nothing to launch.
  static std::unique_ptr<VulkanExecutable> compile(const sdk::ProgramView& program,
                                                   const TargetSpec& target, VulkanDevice* device);
  /// What save() gave; throws TN_ERROR_INCOMPATIBLE for anything else.
  static std::unique_ptr<VulkanExecutable> load(Bytes bytes, const TargetSpec& target,
                                                VulkanDevice* device);
  std::string text(tn_text_kind kind) const override;
  std::vector<std::byte> save() const override;

  const VulkanDevice* device() const { return device_; }
  const sdk::LaunchSignature& signature() const { return signature_; }
  const sdk::ShaderBindings& bindings() const { return bindings_; }
  uint64_t binary_bytes() const { return code_.size() * sizeof(uint32_t); }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }
  VkPipelineLayout layout() const { return layout_; }
  VkPipeline pipeline() const { return pipeline_; }

 private:
  /// `cache` is what the driver has kept of a saved pipeline.
  VulkanExecutable(sdk::Program program, const TargetSpec& target, VulkanDevice* device,
                   std::vector<uint32_t> code, Bytes cache);
  void make_layouts();
  void make_pipeline(Bytes cache);

  const sdk::Program program_;
  const TargetSpec target_;
  VulkanDevice* const device_;
  const std::vector<uint32_t> code_;
  const sdk::LaunchSignature signature_;
  const sdk::ShaderBindings bindings_;
  Owned<VkDescriptorSetLayout> set_layout_;
  Owned<VkPipelineLayout> layout_;
  Owned<VkPipelineCache> cache_;
  Owned<VkPipeline> pipeline_;
};

}  // namespace tenon::vulkan
