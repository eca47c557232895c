// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device's one queue. Submissions are numbered, and one timeline semaphore of Vulkan counts those
// that have ended; a timeline of the ABI notes which number raises it to which value. So values may
// jump and failures travel, which semaphores alone do not allow.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "plugins/vulkan/functions.hpp"
#include "sdk/helpers/backend.hpp"

namespace tenon::vulkan {

class Batch;
class Queue;
class VulkanDevice;

/// The queue's mutex guards it.
class VulkanTimeline : public sdk::Timeline {
 public:
  VulkanTimeline(Queue& queue, uint64_t value) : queue_(queue), value_(value) {}
  void wait(uint64_t value, uint64_t timeout_ns) override;
  /// Throws the failure of a failed timeline.
  uint64_t query() override;
  /// Values only grow; a lower one changes nothing. No effect on a failed timeline.
  void signal(uint64_t value) override;

 private:
  friend class Queue;
  struct Pending {
    uint64_t value, number;  ///< raised to `value` when submission `number` has ended
  };
  const Pending* pending_for(uint64_t value) const;
  void settle(uint64_t ended);

  Queue& queue_;
  uint64_t value_;
  std::deque<Pending> pending_;  ///< both ascending
  /// Told when nothing is pending any more: until then the device may be at work for it.
  std::optional<sdk::Failure> failure_;
};

class Queue {
 public:
  explicit Queue(VulkanDevice& device);
  ~Queue();
  Queue(const Queue&) = delete;

  /// One that is done with, or a new one.
  std::unique_ptr<Batch> take();
  /// What could not be recorded.
  void give_back(std::unique_ptr<Batch> batch);
  /// In order. A batch whose waits nobody has raised yet, nor is about to, stays on the host, and
  /// what comes after it too: the call that raises or fails its waits goes on with them.
  void submit(std::unique_ptr<Batch> batch, const sdk::Submission& submission);

 private:
  friend class VulkanTimeline;
  void advance();
  /// False if it is not time yet.
  bool start(Batch& batch);
  void hand_over(Batch& batch, uint64_t after);
  void fail(const Batch& batch, const sdk::Failure& failure);
  uint64_t ended();

  VulkanDevice& device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkSemaphore progress_ = VK_NULL_HANDLE;
  uint64_t last_ = 0;    ///< number of the last submission
  uint64_t handed_ = 0;  ///< number of the last one that Vulkan has
  std::deque<std::unique_ptr<Batch>> waiting_, running_;
  std::vector<std::unique_ptr<Batch>> idle_;
};

}  // namespace tenon::vulkan
