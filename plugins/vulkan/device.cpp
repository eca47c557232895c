// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A logical device and its submissions.
#include "plugins/vulkan/device.hpp"

#include "plugins/vulkan/batch.hpp"

namespace tenon::vulkan {

VulkanDevice::VulkanDevice(Driver& driver, const Adapter& adapter, const sdk::SpirvTarget& target,
                           bool staged)
    : driver_(driver), adapter_(adapter), target_(target), vk_(driver.functions()) {
  create();
  choose_spaces(staged);
  properties_ = device_properties(adapter, target, spaces_, staged);
  dummy_.emplace(*this, device_type(), adapter.alignment(), false);
  vk_.GetDeviceQueue(handle(), adapter.family, 0, &queue_);
  const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr,
                                       VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  make(vk_.CreateSemaphore, vk_.DestroySemaphore, info, progress_, "open");
  check_messages();
}

VulkanDevice::~VulkanDevice() {
  close([this] { vk_.DeviceWaitIdle(handle()); });
}

void VulkanDevice::create() {
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue{
      VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, adapter_.family, 1, &priority};
  const VkDeviceCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
      .pNext = &adapter_.features,
      .queueCreateInfoCount = 1,
      .pQueueCreateInfos = &queue,
      .enabledExtensionCount = static_cast<uint32_t>(adapter_.extensions.size()),
      .ppEnabledExtensionNames = adapter_.extensions.data()};
  VkDevice made;
  check(vk_.CreateDevice(adapter_.handle, &info, nullptr, &made), "open");
#define X(name) vk_.name = reinterpret_cast<PFN_vk##name>(vk_.GetDeviceProcAddr(made, "vk" #name));
  TENON_VK_DEVICE(X)
#undef X
  handle_.reset(made, [this](VkDevice device) { vk_.DestroyDevice(device, nullptr); });
}

/// Chooses spaces: device memory, host memory, and memory that is both. With unified memory there
/// is one space.
void VulkanDevice::choose_spaces(bool staged) {
  Owned<VkBuffer> probe;
  const uint32_t allowed = make_buffer(*this, 16, nullptr, probe).memoryTypeBits;
  const auto add = [&](VkFlags with, VkFlags without) {
    if (const auto type = adapter_.memory_type(allowed, with, without)) spaces_.push_back(*type);
  };
  const VkPhysicalDeviceType type = adapter_.core.properties.deviceType;
  if (type != VK_PHYSICAL_DEVICE_TYPE_CPU && type != VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU)
    add(kLocal, kCoherent);
  if (!spaces_.empty()) add(kCoherent, kLocal);
  add(kLocal | kCoherent, 0);
  if (spaces_.empty()) add(kCoherent, 0);
  if (spaces_.empty()) throw sdk::Failure(TN_ERROR_UNSUPPORTED, "open: has no memory for buffers");
  if (staged) spaces_.insert(spaces_.begin(), spaces_.front());
}

void VulkanDevice::check(VkResult result, const char* what) {
  if (result == VK_ERROR_DEVICE_LOST) lose();
  vulkan::check(result, what);
}

std::unique_ptr<sdk::Memory> VulkanDevice::allocate(uint32_t space, uint64_t size) {
  require_alive();
  const bool is_mapped = properties().memory_spaces[space].flags & TN_MEMORY_HOST_VISIBLE;
  auto memory = std::make_unique<VulkanMemory>(*this, spaces_[space], size, is_mapped);
  check_messages();
  return memory;
}

std::unique_ptr<sdk::Memory> VulkanDevice::import_host(uint32_t, void* pointer, uint64_t size) {
  require_alive();
  auto memory = std::make_unique<VulkanMemory>(*this, pointer, size);
  check_messages();
  return memory;
}

std::unique_ptr<sdk::Recorder> VulkanDevice::make_recorder() {
  return std::make_unique<Batch>(*this);
}

uint64_t VulkanDevice::run_timed(const tn_submission& commands) {
  if (!adapter_.clock_bits) throw sdk::Failure(TN_ERROR_UNSUPPORTED, "timing: expected a clock");
  const VkQueryPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                   .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                   .queryCount = 2};
  Owned<VkQueryPool> stamps;
  make(vk_.CreateQueryPool, vk_.DestroyQueryPool, info, stamps, "timing");
  const std::unique_ptr<sdk::Timeline> ended = make_timeline(0);
  const tn_point signal{reinterpret_cast<tn_timeline*>(ended.get()), 1};
  tn_submission signalling = sdk::read_struct(&commands);
  signalling.signal_count = 1;
  signalling.signals = &signal;
  const std::shared_ptr<sdk::Recorder> recorder = take();
  static_cast<Batch&>(*recorder).time_next(stamps);
  submit(sdk::Submission(&signalling), recorder);
  ended->wait(1, UINT64_MAX);
  uint64_t at[2] = {};
  check(vk_.GetQueryPoolResults(handle(), stamps, 0, 2, sizeof at, at, sizeof at[0],
                                VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
        "timing");
  check_messages();
  // The timestamp counter may have wrapped.
  const uint64_t ticks = (at[1] - at[0]) & (UINT64_MAX >> (64 - adapter_.clock_bits));
  const auto period = static_cast<double>(adapter_.limits().timestampPeriod);  // nanoseconds
  return static_cast<uint64_t>(static_cast<double>(ticks) * period);
}

void VulkanDevice::hand_over(sdk::Recorder& recorder, uint64_t number, uint64_t after) {
  const VkCommandBuffer commands = static_cast<Batch&>(recorder).commands();
  const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  const uint32_t waits = after ? 1 : 0;
  const VkSemaphore progress = progress_;
  const VkTimelineSemaphoreSubmitInfo values{
      VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, waits, &after, 1, &number};
  const VkSubmitInfo info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                          .pNext = &values,
                          .waitSemaphoreCount = waits,
                          .pWaitSemaphores = &progress,
                          .pWaitDstStageMask = &stages,
                          .commandBufferCount = 1,
                          .pCommandBuffers = &commands,
                          .signalSemaphoreCount = 1,
                          .pSignalSemaphores = &progress};
  check(vk_.QueueSubmit(queue_, 1, &info, VK_NULL_HANDLE), "submit");
  try {
    check_messages();
  } catch (...) {
    wait_for(number);  // it runs anyway: memory must not be freed before it has ended
    throw;
  }
}

uint64_t VulkanDevice::last_ended() {
  uint64_t value = 0;
  check(vk_.GetSemaphoreCounterValue(handle(), progress_, &value), "query");
  return value;
}

void VulkanDevice::wait_for(uint64_t number) {
  const VkSemaphore progress = progress_;
  const VkSemaphoreWaitInfo info{
      VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, nullptr, 0, 1, &progress, &number};
  check(vk_.WaitSemaphores(handle(), &info, UINT64_MAX), "wait");
}

}  // namespace tenon::vulkan
