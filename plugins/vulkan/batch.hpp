// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command buffer of one submission, with the resources that it uses.
#pragma once

#include <optional>

#include "plugins/vulkan/memory.hpp"
#include "sdk/shader/recorder.hpp"

namespace tenon::vulkan {

class Batch : public sdk::Recorder {
 public:
  explicit Batch(VulkanDevice& device);
  VkCommandBuffer commands() const { return commands_; }
  /// The next recording writes timestamps of its begin (query 0) and end (query 1).
  void time_next(VkQueryPool stamps) { next_stamps_ = stamps; }

 private:
  void begin(uint32_t launches, uint32_t buffers) override;
  void end() override;
  void dispatch(const Launch& launch) override;
  void copy(const sdk::Range& to, const sdk::Range& from) override;
  void fill_words(const sdk::Range& to, uint32_t word) override;
  void write(const sdk::Range& to, const std::byte* from) override;
  void barrier() override;
  void barrier_before(VkPipelineStageFlags stage, VkAccessFlags access);
  /// Makes room for descriptors, or resets the existing pool.
  void reserve(uint32_t sets, uint32_t buffers);
  const VulkanMemory& own(const sdk::Range& range) const;

  VulkanDevice& device_;
  Owned<VkCommandPool> pool_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  Owned<VkDescriptorPool> descriptors_;
  uint32_t sets_ = 0, buffers_ = 0;  ///< capacity of the pool
  VkQueryPool next_stamps_ = VK_NULL_HANDLE, stamps_ = VK_NULL_HANDLE;
  std::optional<VulkanMemory> written_;  ///< source of the copies of write()
};

}  // namespace tenon::vulkan
