// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The commands of one submission as a command buffer, with all that it holds until they have ended.
#pragma once

#include <memory>
#include <vector>

#include "plugins/vulkan/memory.hpp"
#include "sdk/helpers/submission.hpp"

namespace tenon::vulkan {

class Batch {
 public:
  explicit Batch(VulkanDevice& device);
  ~Batch();
  Batch(const Batch&) = delete;

  /// Throws TN_ERROR_INVALID_ARGUMENT where a command does not fit its memory or executable.
  void record(const sdk::Submission& submission);
  VkCommandBuffer commands() const { return commands_; }

  uint64_t number = 0;  ///< of the submission

 private:
  struct Access {
    const VulkanMemory* memory;
    uint64_t begin, size;
    bool writes;
  };
  void reserve_sets(const sdk::Submission& submission);
  void launch(const tn_command& command);
  void fill(const tn_command& command);
  void copy(const VulkanMemory& to, uint64_t to_offset, const VulkanMemory& from,
            uint64_t from_offset, uint64_t size);
  /// A barrier, where commands since the last one touch the same bytes and either writes.
  void touch(const std::vector<Access>& accesses);
  void barrier(VkPipelineStageFlags stage, VkAccessFlags access);
  const VulkanMemory& own(tn_memory* memory) const;

  VulkanDevice& device_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
  uint32_t set_capacity_ = 0, buffer_capacity_ = 0;
  std::unique_ptr<VulkanMemory> seed_;  ///< of patterns that vkCmdFillBuffer cannot write
  std::vector<Access> since_barrier_;
};

}  // namespace tenon::vulkan
