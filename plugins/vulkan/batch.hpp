// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The commands of one submission as a command buffer, with all that it holds until they have ended.
#pragma once

#include <optional>

#include "plugins/vulkan/memory.hpp"
#include "sdk/helpers/hazards.hpp"
#include "sdk/helpers/submission.hpp"

namespace tenon::vulkan {

class Batch {
 public:
  explicit Batch(VulkanDevice& device);
  /// Throws TN_ERROR_INVALID_ARGUMENT where a command does not fit its memory or executable.
  void record(const sdk::Submission& submission);
  VkCommandBuffer commands() const { return commands_; }
  uint64_t number = 0;  ///< of the submission

 private:
  void reserve_sets(const sdk::Submission& submission);
  void launch(const tn_command& command);
  void fill(const tn_command& command);
  void copy(const VulkanMemory& to, uint64_t to_offset, const VulkanMemory& from,
            uint64_t from_offset, uint64_t size);
  /// Sets a barrier where the command needs one.
  void touch(const std::vector<sdk::Hazards::Access>& command);
  void barrier(VkPipelineStageFlags stage, VkAccessFlags access);
  const VulkanMemory& own(tn_memory* memory) const;

  VulkanDevice& device_;
  Owned<VkCommandPool> pool_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  Owned<VkDescriptorPool> descriptors_;
  uint32_t sets_ = 0, buffers_ = 0;   ///< that it has room for
  std::optional<VulkanMemory> seed_;  ///< of patterns that vkCmdFillBuffer cannot write
  sdk::Hazards hazards_;
};

}  // namespace tenon::vulkan
