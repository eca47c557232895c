// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The commands of one submission as a command buffer, with all that it holds until they have ended.
#pragma once

#include <optional>

#include "plugins/vulkan/memory.hpp"
#include "sdk/shader/recorder.hpp"

namespace tenon::vulkan {

class Batch : public sdk::Recorder {
 public:
  explicit Batch(VulkanDevice& device);
  VkCommandBuffer commands() const { return commands_; }
  /// The next recording writes down when it begins, as query 0, and when it has ended, as query 1.
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
  /// Makes room for descriptors, or takes what there is anew.
  void reserve(uint32_t sets, uint32_t buffers);
  const VulkanMemory& own(const sdk::Range& range) const;

  VulkanDevice& device_;
  Owned<VkCommandPool> pool_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  Owned<VkDescriptorPool> descriptors_;
  uint32_t sets_ = 0, buffers_ = 0;  ///< that it has room for
  VkQueryPool next_stamps_ = VK_NULL_HANDLE, stamps_ = VK_NULL_HANDLE;
  std::optional<VulkanMemory> written_;  ///< what write() copies from
};

}  // namespace tenon::vulkan
