// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A logical device, and how work gets to it.
#include "plugins/vulkan/device.hpp"

#include <algorithm>

#include "plugins/vulkan/batch.hpp"

namespace tenon::vulkan {
namespace {

constexpr VkFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkFlags kCoherent =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

}  // namespace

VulkanDevice::VulkanDevice(Driver& driver, const Adapter& adapter, const TargetSpec& target,
                           bool staged)
    : driver_(driver), adapter_(adapter), target_(target), vk_(driver.functions()) {
  create();
  choose_spaces(staged);
  properties_ = device_properties(adapter, target, alignment(), spaces_, staged);
  dummy_.emplace(*this, device_type(), alignment(), false);
  vk_.GetDeviceQueue(handle(), adapter.family, 0, &queue_);
  const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr,
                                       VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  make(vk_.CreateSemaphore, vk_.DestroySemaphore, info, progress_, "open");
  check_messages();
}

VulkanDevice::~VulkanDevice() {
  close();
  vk_.DeviceWaitIdle(handle());
}

void VulkanDevice::create() {
  std::vector<const char*> extensions;
  for (const char* name :
       {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME}) {
    if (adapter_.has(name)) extensions.push_back(name);
  }
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue{
      VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, adapter_.family, 1, &priority};
  const VkDeviceCreateInfo info{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                .pNext = &adapter_.features,
                                .queueCreateInfoCount = 1,
                                .pQueueCreateInfos = &queue,
                                .enabledExtensionCount = static_cast<uint32_t>(extensions.size()),
                                .ppEnabledExtensionNames = extensions.data()};
  check(vk_.CreateDevice(adapter_.handle, &info, nullptr, &handle_.device), "open");
#define X(name) \
  vk_.name = reinterpret_cast<PFN_vk##name>(vk_.GetDeviceProcAddr(handle(), "vk" #name));
  TENON_VK_DEVICE(X)
#undef X
  handle_.destroy = vk_.DestroyDevice;
}

uint64_t VulkanDevice::alignment() const {
  return std::max<uint64_t>(adapter_.limits().minStorageBufferOffsetAlignment, 16);
}

/// The device's own memory, the host's, and what is both. Where all memory is one there is one
/// space. Memory that needs flushes is left out: Vulkan promises some that does not.
void VulkanDevice::choose_spaces(bool staged) {
  Owned<VkBuffer> probe;
  const uint32_t allowed = make_buffer(*this, 16, nullptr, probe).memoryTypeBits;
  const VkPhysicalDeviceMemoryProperties& memory = adapter_.memory;
  const auto add = [&](VkFlags with, VkFlags without) {
    std::optional<std::tuple<VkFlags, VkDeviceSize, uint32_t>> best;
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      const VkMemoryType& type = memory.memoryTypes[i];
      const VkFlags others = without | ~(kLocal | kCoherent | kCached);
      if ((type.propertyFlags & (with | others)) != with || !(allowed >> i & 1)) continue;
      const std::tuple rank(type.propertyFlags & kCached, memory.memoryHeaps[type.heapIndex].size,
                            i);
      if (!best || rank > *best) best = rank;
    }
    if (best) spaces_.push_back(std::get<2>(*best));
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

uint32_t VulkanDevice::coherent_type(uint32_t allowed) const {
  for (uint32_t i = 0; i < adapter_.memory.memoryTypeCount; ++i) {
    const VkFlags flags = adapter_.memory.memoryTypes[i].propertyFlags;
    if ((allowed >> i & 1) && (flags & kCoherent) == kCoherent) return i;
  }
  throw sdk::Failure(TN_ERROR_UNSUPPORTED, "memory_import: the device cannot take this memory");
}

void VulkanDevice::check(VkResult result, const char* what) {
  if (result == VK_ERROR_DEVICE_LOST) is_lost_ = true;
  vulkan::check(result, what);
}

void VulkanDevice::require_alive() const {
  if (is_lost_) throw sdk::Failure(TN_ERROR_DEVICE_LOST, "the device was lost");
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

std::unique_ptr<sdk::Timeline> VulkanDevice::make_timeline(uint64_t value) {
  require_alive();
  return CountedQueue::make_timeline(value);
}

void VulkanDevice::submit(const sdk::Submission& submission) {
  if (submission.queue() != 0)
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "submit: expected queue 0");
  const std::shared_ptr<Batch> batch = take_batch();
  batch->record(submission);
  check_messages();
  CountedQueue::submit(submission, [this, batch](uint64_t number, uint64_t after) {
    hand_over(batch, number, after);
  });
}

std::shared_ptr<Batch> VulkanDevice::take_batch() {
  const uint64_t done = ended();
  const std::lock_guard lock(mutex_);
  if (batches_.empty() || batches_.front()->number > done) return std::make_shared<Batch>(*this);
  std::shared_ptr<Batch> batch = std::move(batches_.front());
  batches_.pop_front();
  return batch;
}

void VulkanDevice::hand_over(std::shared_ptr<Batch> batch, uint64_t number, uint64_t after) {
  require_alive();
  batch->number = number;
  const VkCommandBuffer commands = batch->commands();
  const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  const uint32_t waits = after ? 1 : 0;
  const VkSemaphore progress = progress_;
  const VkTimelineSemaphoreSubmitInfo values{
      VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, waits, &after, 1, &number};
  const VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO,
                          &values,
                          waits,
                          &progress,
                          &stages,
                          1,
                          &commands,
                          1,
                          &progress};
  check(vk_.QueueSubmit(queue_, 1, &info, VK_NULL_HANDLE), "submit");
  {
    const std::lock_guard lock(mutex_);
    batches_.push_back(std::move(batch));
  }
  try {
    check_messages();
  } catch (...) {
    wait_for(number);  // it runs all the same: no one may free what it uses before its end
    throw;
  }
}

uint64_t VulkanDevice::ended() {
  require_alive();
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
