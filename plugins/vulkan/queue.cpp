// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hands batches to Vulkan.
#include "plugins/vulkan/queue.hpp"

#include "plugins/vulkan/batch.hpp"
#include "plugins/vulkan/device.hpp"

namespace tenon::vulkan {
namespace {

/// The end of a submission.
class Ended : public sdk::Event {
 public:
  Ended(Queue& queue, uint64_t number) : queue_(queue), number_(number) {}
  bool is_reached() const override { return queue_.ended() >= number_; }
  void synchronize() const override { queue_.wait_for(number_); }
  const void* queue() const override { return &queue_; }
  uint64_t number() const { return number_; }

 private:
  Queue& queue_;
  const uint64_t number_;
};

}  // namespace

Queue::Queue(VulkanDevice& device) : device_(device) {
  const Functions& vk = device.vk();
  vk.GetDeviceQueue(device.handle(), device.adapter().family, 0, &queue_);
  const VkSemaphoreTypeCreateInfo type{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                       .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                   .pNext = &type};
  device.check(vk.CreateSemaphore(device.handle(), &info, nullptr, &progress_), "open");
}

Queue::~Queue() {
  scheduler_.drop(this);
  device_.vk().DeviceWaitIdle(device_.handle());
  device_.vk().DestroySemaphore(device_.handle(), progress_, nullptr);
}

uint64_t Queue::ended() {
  device_.require_alive();
  uint64_t value = 0;
  device_.check(device_.vk().GetSemaphoreCounterValue(device_.handle(), progress_, &value),
                "query");
  return value;
}

void Queue::wait_for(uint64_t number) {
  const VkSemaphoreWaitInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                 .semaphoreCount = 1,
                                 .pSemaphores = &progress_,
                                 .pValues = &number};
  device_.check(device_.vk().WaitSemaphores(device_.handle(), &info, UINT64_MAX), "wait");
}

std::unique_ptr<Batch> Queue::take() {
  const uint64_t done = ended();
  const std::lock_guard lock(mutex_);
  for (; !running_.empty() && running_.front()->number <= done; running_.pop_front())
    idle_.push_back(std::move(running_.front()));
  if (idle_.empty()) return std::make_unique<Batch>(device_);
  std::unique_ptr<Batch> batch = std::move(idle_.back());
  idle_.pop_back();
  return batch;
}

void Queue::submit(std::unique_ptr<Batch> batch, sdk::StreamScheduler::Work work) {
  work.owner = this;
  const auto shared = std::make_shared<std::unique_ptr<Batch>>(std::move(batch));
  work.start = [this, shared](const sdk::StreamScheduler::Work& all) {
    start(all, std::move(*shared));
  };
  scheduler_.submit(std::move(work));
}

void Queue::start(const sdk::StreamScheduler::Work& work, std::unique_ptr<Batch> batch) {
  device_.require_alive();
  uint64_t after = 0;
  for (const sdk::StreamPoint& wait : work.waits) {
    const auto event = wait.state->standing(wait.value).event;
    if (event) after = std::max(after, static_cast<const Ended&>(*event).number());
  }
  const std::lock_guard lock(mutex_);
  hand_over(*batch, after);
  const auto event = std::make_shared<Ended>(*this, batch->number);
  running_.push_back(std::move(batch));
  for (const sdk::StreamPoint& point : work.signals) point.state->promise(point.value, event, {});
}

void Queue::hand_over(Batch& batch, uint64_t after) {
  const VkCommandBuffer commands = batch.commands();
  const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  batch.number = last_ + 1;
  const VkTimelineSemaphoreSubmitInfo values{
      .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
      .waitSemaphoreValueCount = after ? 1u : 0u,
      .pWaitSemaphoreValues = &after,
      .signalSemaphoreValueCount = 1,
      .pSignalSemaphoreValues = &batch.number};
  const VkSubmitInfo info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                          .pNext = &values,
                          .waitSemaphoreCount = after ? 1u : 0u,
                          .pWaitSemaphores = &progress_,
                          .pWaitDstStageMask = &stages,
                          .commandBufferCount = 1,
                          .pCommandBuffers = &commands,
                          .signalSemaphoreCount = 1,
                          .pSignalSemaphores = &progress_};
  device_.check(device_.vk().QueueSubmit(queue_, 1, &info, VK_NULL_HANDLE), "submit");
  ++last_;
  try {
    device_.check_messages();
  } catch (...) {
    wait_for(batch.number);  // it runs all the same: no one may free what it uses before its end
    throw;
  }
}

}  // namespace tenon::vulkan
