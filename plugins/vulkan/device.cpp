// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A logical device with its memory spaces and its queue.
#include "plugins/vulkan/device.hpp"

#include <algorithm>

#include "plugins/vulkan/batch.hpp"
#include "plugins/vulkan/properties.hpp"

namespace tenon::vulkan {
namespace {

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kVisible =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr VkMemoryPropertyFlags kOdd =
    VK_MEMORY_PROPERTY_PROTECTED_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;

/// Says at once that the device is lost.
class VulkanTimeline : public sdk::StreamTimeline {
 public:
  VulkanTimeline(VulkanDevice& device, sdk::StreamScheduler& scheduler, uint64_t value)
      : StreamTimeline(scheduler, value), device_(device) {}
  void wait(uint64_t value, uint64_t timeout_ns) override {
    device_.require_alive();
    StreamTimeline::wait(value, timeout_ns);
  }
  uint64_t query() override {
    device_.require_alive();
    return StreamTimeline::query();
  }
  void signal(uint64_t value) override {
    device_.require_alive();
    StreamTimeline::signal(value);
  }
  VulkanDevice& device() const { return device_; }

 private:
  VulkanDevice& device_;
};

}  // namespace

VulkanDevice::VulkanDevice(std::shared_ptr<Driver> driver, const Adapter& adapter,
                           const TargetSpec& target, bool staged)
    : driver_(std::move(driver)), adapter_(adapter), target_(target), vk_(driver_->functions()) {
  create();
  try {
    choose_spaces(staged);
    properties_ = device_properties(*this, spaces_, staged);
    dummy_ = std::make_unique<VulkanMemory>(*this, device_type(), alignment(), false);
    queue_.emplace(*this);
    check_messages();
  } catch (...) {
    queue_.reset();
    dummy_.reset();
    vk_.DestroyDevice(handle_, nullptr);
    throw;
  }
}

VulkanDevice::~VulkanDevice() {
  queue_.reset();
  dummy_.reset();
  vk_.DestroyDevice(handle_, nullptr);
}

void VulkanDevice::create() {
  std::vector<const char*> extensions;
  for (const char* name :
       {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME}) {
    if (adapter_.has(name)) extensions.push_back(name);
  }
  VkPhysicalDeviceFeatures2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  core.features = {.shaderFloat64 = adapter_.features.features.shaderFloat64,
                   .shaderInt64 = adapter_.features.features.shaderInt64,
                   .shaderInt16 = adapter_.features.features.shaderInt16};
  VkPhysicalDeviceVulkan11Features v11{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
      .storageBuffer16BitAccess = adapter_.f11.storageBuffer16BitAccess};
  VkPhysicalDeviceVulkan12Features v12{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
      .storageBuffer8BitAccess = adapter_.f12.storageBuffer8BitAccess,
      .shaderInt8 = adapter_.f12.shaderInt8,
      .shaderSubgroupExtendedTypes = adapter_.f12.shaderSubgroupExtendedTypes,
      .timelineSemaphore = VK_TRUE};
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT size_control = adapter_.size_control;
  size_control.pNext = nullptr;
  core.pNext = &v11;
  v11.pNext = &v12;
  if (adapter_.has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) v12.pNext = &size_control;
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                      .queueFamilyIndex = adapter_.family,
                                      .queueCount = 1,
                                      .pQueuePriorities = &priority};
  const VkDeviceCreateInfo info{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                .pNext = &core,
                                .queueCreateInfoCount = 1,
                                .pQueueCreateInfos = &queue,
                                .enabledExtensionCount = static_cast<uint32_t>(extensions.size()),
                                .ppEnabledExtensionNames = extensions.data()};
  check(vk_.CreateDevice(adapter_.handle, &info, nullptr, &handle_), "open");
#define X(name) \
  vk_.name = reinterpret_cast<PFN_vk##name>(vk_.GetDeviceProcAddr(handle_, "vk" #name));
  TENON_VK_DEVICE(X)
#undef X
}

uint64_t VulkanDevice::alignment() const {
  return std::max<uint64_t>(adapter_.limits().minStorageBufferOffsetAlignment, 16);
}

/// The device's own memory, the host's, and what is both. Where all memory is one there is one
/// space. Memory that needs flushes is left out: Vulkan promises some that does not.
void VulkanDevice::choose_spaces(bool staged) {
  const VkBufferCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = 16, .usage = kBufferUsage};
  VkBuffer probe;
  check(vk_.CreateBuffer(handle_, &info, nullptr, &probe), "open");
  VkMemoryRequirements needs;
  vk_.GetBufferMemoryRequirements(handle_, probe, &needs);
  vk_.DestroyBuffer(handle_, probe, nullptr);
  const VkPhysicalDeviceMemoryProperties& memory = adapter_.memory;
  const auto add = [&](VkMemoryPropertyFlags with, VkMemoryPropertyFlags without) {
    int best = -1;
    const auto rank = [&](int type) {
      const VkMemoryType& row = memory.memoryTypes[type];
      return std::pair(row.propertyFlags & kCached, memory.memoryHeaps[row.heapIndex].size);
    };
    for (int type = 0; type < static_cast<int>(memory.memoryTypeCount); ++type) {
      const VkMemoryPropertyFlags flags = memory.memoryTypes[type].propertyFlags;
      if ((flags & with) != with || (flags & (without | kOdd)) ||
          !(needs.memoryTypeBits >> type & 1))
        continue;
      if (best < 0 || rank(type) > rank(best)) best = type;
    }
    if (best >= 0) spaces_.push_back(static_cast<uint32_t>(best));
  };
  const VkPhysicalDeviceType type = adapter_.core.properties.deviceType;
  const bool is_one =
      type == VK_PHYSICAL_DEVICE_TYPE_CPU || type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  if (!is_one) add(kLocal, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT);
  if (!spaces_.empty()) add(kVisible, kLocal);
  add(kLocal | kVisible, 0);
  if (spaces_.empty()) add(kVisible, 0);
  if (spaces_.empty()) throw sdk::Failure(TN_ERROR_UNSUPPORTED, "open: has no memory for buffers");
  if (staged) spaces_.insert(spaces_.begin(), spaces_.front());
}

uint32_t VulkanDevice::coherent_type(uint32_t allowed) const {
  for (uint32_t type = 0; type < adapter_.memory.memoryTypeCount; ++type) {
    if ((allowed >> type & 1) &&
        (adapter_.memory.memoryTypes[type].propertyFlags & kVisible) == kVisible)
      return type;
  }
  throw sdk::Failure(TN_ERROR_UNSUPPORTED, "memory_import: the device cannot take this memory");
}

void VulkanDevice::check(VkResult result, const char* what) {
  if (result == VK_ERROR_DEVICE_LOST) lose();
  vulkan::check(result, what);
}

void VulkanDevice::require_alive() const {
  if (is_lost_) throw sdk::Failure(TN_ERROR_DEVICE_LOST, "the device was lost");
}

std::unique_ptr<sdk::Memory> VulkanDevice::allocate(uint32_t space, uint64_t size) {
  require_alive();
  const tn_memory_space& row = properties().memory_spaces[space];
  if (size > row.largest) throw std::bad_alloc();
  auto memory = std::make_unique<VulkanMemory>(*this, spaces_[space], size,
                                               row.flags & TN_MEMORY_HOST_VISIBLE);
  check_messages();
  return memory;
}

std::unique_ptr<sdk::Memory> VulkanDevice::import_host(uint32_t space, void* pointer,
                                                       uint64_t size) {
  require_alive();
  if (!(properties().memory_spaces[space].flags & TN_MEMORY_IMPORT))
    throw sdk::Failure(TN_ERROR_UNSUPPORTED, "memory_import: the memory space takes none");
  auto memory = std::make_unique<VulkanMemory>(*this, pointer, size);
  check_messages();
  return memory;
}

void VulkanDevice::submit(const sdk::Submission& submission) {
  require_alive();
  if (submission.queue() != 0)
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "submit: expected queue 0");
  const auto point = [this](const tn_point& from) {
    auto* timeline = static_cast<VulkanTimeline*>(sdk::timeline_of(from.timeline));
    if (&timeline->device() != this)
      throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "submit: expected timelines of this device");
    return sdk::StreamPoint{timeline->state(), from.value};
  };
  sdk::StreamScheduler::Work work;
  for (uint32_t i = 0; i < submission.wait_count(); ++i)
    work.waits.push_back(point(submission.wait(i)));
  for (uint32_t i = 0; i < submission.signal_count(); ++i)
    work.signals.push_back(point(submission.signal(i)));
  std::unique_ptr<Batch> batch = queue_->take();
  batch->record(submission);
  check_messages();
  queue_->submit(std::move(batch), std::move(work));
}

std::unique_ptr<sdk::Timeline> VulkanDevice::make_timeline(uint64_t value) {
  require_alive();
  return std::make_unique<VulkanTimeline>(*this, queue_->scheduler(), value);
}

}  // namespace tenon::vulkan
