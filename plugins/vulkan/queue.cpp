// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who waits for what.
#include "plugins/vulkan/queue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/vulkan/batch.hpp"
#include "plugins/vulkan/device.hpp"
#include "sdk/helpers/timeline.hpp"

namespace tenon::vulkan {
namespace {

using Clock = std::chrono::steady_clock;

/// Longer than a century is for ever, and would overflow the clock.
constexpr uint64_t kForEver = uint64_t{1} << 61;

}  // namespace

// ---- Timelines ----

const VulkanTimeline::Pending* VulkanTimeline::pending_for(uint64_t value) const {
  const auto at = std::ranges::lower_bound(pending_, value, {}, &Pending::value);
  return at == pending_.end() ? nullptr : &*at;
}

void VulkanTimeline::settle(uint64_t ended) {
  for (; !pending_.empty() && pending_.front().number <= ended; pending_.pop_front())
    value_ = std::max(value_, pending_.front().value);
}

void VulkanTimeline::wait(uint64_t value, uint64_t timeout_ns) {
  const bool for_ever = timeout_ns > kForEver;
  const auto deadline = Clock::now() + std::chrono::nanoseconds(for_ever ? 0 : timeout_ns);
  std::unique_lock lock(queue_.mutex_);
  for (;;) {
    settle(queue_.ended());
    queue_.device_.require_alive();
    if (value_ >= value) return;
    const Pending* next = pending_for(value);
    if (!next && failure_) {
      if (pending_.empty()) throw sdk::Failure(*failure_);
      next = &pending_.back();
    }
    const auto left = std::chrono::nanoseconds(deadline - Clock::now()).count();
    if (!for_ever && left <= 0)
      throw sdk::Failure(TN_ERROR_TIMEOUT,
                         fmt::format("timeline_wait: {} not reached, at {}", value, value_));
    if (next && next->number <= queue_.handed_) {
      const uint64_t number = next->number;
      lock.unlock();
      queue_.device_.wait_for(queue_.progress_, number,
                              for_ever ? UINT64_MAX : static_cast<uint64_t>(left));
      lock.lock();
    } else if (for_ever) {
      queue_.changed_.wait(lock);
    } else {
      queue_.changed_.wait_until(lock, deadline);
    }
  }
}

uint64_t VulkanTimeline::query() {
  const std::lock_guard lock(queue_.mutex_);
  settle(queue_.ended());
  queue_.device_.require_alive();
  if (failure_ && pending_.empty()) throw sdk::Failure(*failure_);
  return value_;
}

void VulkanTimeline::signal(uint64_t value) {
  const std::lock_guard lock(queue_.mutex_);
  queue_.device_.require_alive();
  if (failure_ || value <= value_) return;
  value_ = value;
  queue_.advance();
}

// ---- The queue ----

Queue::Queue(VulkanDevice& device) : device_(device) {
  const Functions& vk = device.vk();
  vk.GetDeviceQueue(device.handle(), device.adapter().family, 0, &queue_);
  auto type = make<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  auto info = make<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  info.pNext = &type;
  device.check(vk.CreateSemaphore(device.handle(), &info, nullptr, &progress_), "open");
}

Queue::~Queue() {
  device_.vk().DeviceWaitIdle(device_.handle());
  device_.vk().DestroySemaphore(device_.handle(), progress_, nullptr);
}

uint64_t Queue::ended() {
  uint64_t value = 0;
  const VkResult result =
      device_.vk().GetSemaphoreCounterValue(device_.handle(), progress_, &value);
  if (result == VK_ERROR_DEVICE_LOST) device_.lose();
  while (!running_.empty() && running_.front()->number <= value) {
    idle_.push_back(std::move(running_.front()));
    running_.pop_front();
  }
  return value;
}

std::unique_ptr<Batch> Queue::take() {
  {
    const std::lock_guard lock(mutex_);
    ended();
    if (!idle_.empty()) {
      std::unique_ptr<Batch> batch = std::move(idle_.back());
      idle_.pop_back();
      return batch;
    }
  }
  return std::make_unique<Batch>(device_);
}

void Queue::give_back(std::unique_ptr<Batch> batch) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(batch));
}

void Queue::submit(std::unique_ptr<Batch> batch, const sdk::Submission& submission) {
  const auto point = [this](const tn_point& from) {
    auto* timeline = static_cast<VulkanTimeline*>(sdk::timeline_of(from.timeline));
    if (&timeline->queue_ != this)
      throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "submit: expected timelines of this device");
    return Batch::Point{timeline, from.value};
  };
  for (uint32_t i = 0; i < submission.wait_count(); ++i)
    batch->waits.push_back(point(submission.wait(i)));
  for (uint32_t i = 0; i < submission.signal_count(); ++i)
    batch->signals.push_back(point(submission.signal(i)));
  const std::lock_guard lock(mutex_);
  batch->number = ++last_;
  for (const Batch::Point& signal : batch->signals) {
    auto& pending = signal.timeline->pending_;
    if (signal.value > signal.timeline->value_ &&
        (pending.empty() || signal.value > pending.back().value))
      pending.push_back({signal.value, batch->number});
  }
  waiting_.push_back(std::move(batch));
  advance();
}

void Queue::advance() {
  while (!waiting_.empty()) {
    Batch& batch = *waiting_.front();
    try {
      if (!start(batch)) break;
      running_.push_back(std::move(waiting_.front()));
    } catch (...) {
      fail(batch, sdk::current_failure());
      idle_.push_back(std::move(waiting_.front()));
    }
    waiting_.pop_front();
  }
  changed_.notify_all();
}

bool Queue::start(Batch& batch) {
  device_.require_alive();
  const uint64_t done = ended();
  uint64_t after = 0;
  bool is_ready = true;
  for (const Batch::Point& wait : batch.waits) {
    wait.timeline->settle(done);
    if (wait.timeline->value_ >= wait.value) continue;
    const VulkanTimeline::Pending* pending = wait.timeline->pending_for(wait.value);
    if (!pending && wait.timeline->failure_) throw sdk::Failure(*wait.timeline->failure_);
    is_ready &= pending && pending->number <= handed_;
    if (pending) after = std::max(after, pending->number);
  }
  if (is_ready) hand_over(batch, after);
  return is_ready;
}

void Queue::hand_over(Batch& batch, uint64_t after) {
  const VkCommandBuffer commands = batch.commands();
  const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  auto values =
      make<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  auto info = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.pNext = &values;
  values.waitSemaphoreValueCount = info.waitSemaphoreCount = after ? 1 : 0;
  values.pWaitSemaphoreValues = &after;
  info.pWaitSemaphores = &progress_;
  info.pWaitDstStageMask = &stages;
  values.signalSemaphoreValueCount = info.signalSemaphoreCount = 1;
  values.pSignalSemaphoreValues = &batch.number;
  info.pSignalSemaphores = &progress_;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  device_.check(device_.vk().QueueSubmit(queue_, 1, &info, VK_NULL_HANDLE), "submit");
  handed_ = batch.number;
  try {
    device_.check_messages();
  } catch (...) {
    // It runs all the same: no one may free what it uses before it has ended.
    device_.wait_for(progress_, batch.number, UINT64_MAX);
    throw;
  }
}

void Queue::fail(const Batch& batch, const sdk::Failure& failure) {
  for (const Batch::Point& signal : batch.signals) {
    std::erase_if(signal.timeline->pending_,
                  [&](const auto& pending) { return pending.number == batch.number; });
    if (!signal.timeline->failure_) signal.timeline->failure_ = failure;
  }
}

}  // namespace tenon::vulkan
