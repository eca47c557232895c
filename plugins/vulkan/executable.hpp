// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program as SPIR-V, and as a pipeline where there is a device.
#pragma once

#include <memory>
#include <vector>

#include "plugins/vulkan/functions.hpp"
#include "plugins/vulkan/target.hpp"
#include "sdk/helpers/launch.hpp"
#include "sdk/helpers/program_builder.hpp"

namespace tenon::vulkan {

class VulkanDevice;

class VulkanExecutable : public sdk::Executable {
 public:
  /// Where an argument stands in the push constants; no bytes if it is a buffer.
  struct Slot {
    uint32_t offset = 0, bytes = 0;
  };

  /// `device` may be null: then there is nothing to launch.
  static std::unique_ptr<VulkanExecutable> compile(const sdk::ProgramView& program,
                                                   const TargetSpec& target, VulkanDevice* device);
  /// What save() gave; throws TN_ERROR_INCOMPATIBLE for anything else.
  static std::unique_ptr<VulkanExecutable> load(std::span<const std::byte> bytes,
                                                const TargetSpec& target, VulkanDevice* device);
  ~VulkanExecutable() override;

  std::string text(tn_text_kind kind) const override;
  std::vector<std::byte> save() const override;

  const VulkanDevice* device() const { return device_; }
  const sdk::LaunchSignature& signature() const { return signature_; }
  const std::vector<Slot>& slots() const { return slots_; }
  uint32_t scalar_bytes() const { return scalar_bytes_; }
  uint64_t binary_bytes() const { return code_.size() * sizeof(uint32_t); }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }
  VkPipelineLayout layout() const { return layout_; }
  VkPipeline pipeline() const { return pipeline_; }

 private:
  VulkanExecutable(sdk::Program program, const TargetSpec& target, VulkanDevice* device,
                   std::vector<uint32_t> code);
  static std::unique_ptr<VulkanExecutable> make_ready(sdk::Program program,
                                                      const TargetSpec& target,
                                                      VulkanDevice* device,
                                                      std::vector<uint32_t> code,
                                                      std::span<const std::byte> cache);
  void make_layouts();
  void make_pipeline(std::span<const std::byte> cache);

  const sdk::Program program_;
  const TargetSpec target_;
  VulkanDevice* const device_;
  const std::vector<uint32_t> code_;
  sdk::LaunchSignature signature_;
  std::vector<Slot> slots_;
  uint32_t scalar_bytes_ = 0;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
};

}  // namespace tenon::vulkan
