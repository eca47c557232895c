// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device's one queue. Submissions are numbered when Vulkan gets them, and one timeline semaphore
// counts those that have ended; timelines of the ABI are told by it. So their values may jump and
// failures travel, which semaphores alone do not allow.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "plugins/vulkan/functions.hpp"
#include "sdk/stream/timeline.hpp"

namespace tenon::vulkan {

class Batch;
class VulkanDevice;

class Queue {
 public:
  explicit Queue(VulkanDevice& device);
  ~Queue();
  Queue(const Queue&) = delete;

  /// One that is done with, or a new one.
  std::unique_ptr<Batch> take();
  /// Starts the batch when the waits are reached, or sure to be; from then on the signals are.
  void submit(std::unique_ptr<Batch> batch, sdk::StreamScheduler::Work work);

  sdk::StreamScheduler& scheduler() { return scheduler_; }
  /// Number of the last submission that has ended. Throws TN_ERROR_DEVICE_LOST.
  uint64_t ended();
  void wait_for(uint64_t number);

 private:
  void start(const sdk::StreamScheduler::Work& work, std::unique_ptr<Batch> batch);
  void hand_over(Batch& batch, uint64_t after);

  VulkanDevice& device_;
  sdk::StreamScheduler scheduler_;
  std::mutex mutex_;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkSemaphore progress_ = VK_NULL_HANDLE;
  uint64_t last_ = 0;  ///< number of the last submission
  std::deque<std::unique_ptr<Batch>> running_;
  std::vector<std::unique_ptr<Batch>> idle_;
};

}  // namespace tenon::vulkan
