// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements the recorder with Vulkan commands.
#include "plugins/vulkan/batch.hpp"

#include <algorithm>
#include <utility>

#include "plugins/vulkan/device.hpp"
#include "plugins/vulkan/executable.hpp"

namespace tenon::vulkan {
namespace {

constexpr VkPipelineStageFlags kStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags kReads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

}  // namespace

Batch::Batch(VulkanDevice& device) : Recorder(device), device_(device) {
  const Functions& vk = device.vk();
  const VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr, 0,
                                     device.adapter().family};
  device.make(vk.CreateCommandPool, vk.DestroyCommandPool, pool, pool_, "submit");
  const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr,
                                         pool_, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
  device.check(vk.AllocateCommandBuffers(device.handle(), &info, &commands_), "submit");
}

void Batch::begin(uint32_t launches, uint32_t buffers) {
  const Functions& vk = device_.vk();
  device_.check(vk.ResetCommandPool(device_.handle(), pool_, 0), "submit");
  reserve(launches, buffers);
  const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                      VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  device_.check(vk.BeginCommandBuffer(commands_, &info), "submit");
  stamps_ = std::exchange(next_stamps_, VK_NULL_HANDLE);
  if (!stamps_) return;
  vk.CmdResetQueryPool(commands_, stamps_, 0, 2);
  vk.CmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, stamps_, 0);
}

void Batch::end() {
  if (stamps_)
    device_.vk().CmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps_, 1);
  barrier_before(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  device_.check(device_.vk().EndCommandBuffer(commands_), "submit");
  device_.check_messages();
}

void Batch::reserve(uint32_t sets, uint32_t buffers) {
  const Functions& vk = device_.vk();
  if (descriptors_ && sets <= sets_ && buffers <= buffers_)
    return device_.check(vk.ResetDescriptorPool(device_.handle(), descriptors_, 0), "submit");
  sets_ = std::max(2 * sets, 8u);
  buffers_ = std::max(2 * buffers, 64u);
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers_};
  const VkDescriptorPoolCreateInfo info{
      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, nullptr, 0, sets_, 1, &size};
  device_.make(vk.CreateDescriptorPool, vk.DestroyDescriptorPool, info, descriptors_, "submit");
}

const VulkanMemory& Batch::own(const sdk::Range& range) const {
  const auto& memory = static_cast<const VulkanMemory&>(*range.memory);
  if (&memory.device() != &device_)
    throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "submit: expected memory of this device");
  return memory;
}

void Batch::dispatch(const Launch& launch) {
  const auto& executable = static_cast<const VulkanExecutable&>(launch.executable);
  std::vector<VkDescriptorBufferInfo> buffers;
  for (const sdk::Range& range : launch.buffers) {
    if (range.memory) {
      const VulkanMemory& memory = own(range);
      buffers.push_back({memory.buffer(), memory.base() + range.offset, range.size});
    } else {
      buffers.push_back({device_.dummy(), 0, VK_WHOLE_SIZE});
    }
  }
  const Functions& vk = device_.vk();
  if (!buffers.empty()) {
    const VkDescriptorSetLayout layout = executable.set_layout();
    const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr,
                                           descriptors_, 1, &layout};
    VkDescriptorSet set;
    device_.check(vk.AllocateDescriptorSets(device_.handle(), &info, &set), "launch");
    // One descriptor for each binding: the update continues with the next binding.
    const VkWriteDescriptorSet write{.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                     .dstSet = set,
                                     .descriptorCount = static_cast<uint32_t>(buffers.size()),
                                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                     .pBufferInfo = buffers.data()};
    vk.UpdateDescriptorSets(device_.handle(), 1, &write, 0, nullptr);
    vk.CmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, executable.layout(), 0, 1,
                             &set, 0, nullptr);
  }
  if (!launch.scalars.empty())
    vk.CmdPushConstants(commands_, executable.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                        static_cast<uint32_t>(launch.scalars.size()), launch.scalars.data());
  vk.CmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, executable.pipeline());
  vk.CmdDispatch(commands_, launch.grid[0], launch.grid[1], launch.grid[2]);
}

void Batch::copy(const sdk::Range& to, const sdk::Range& from) {
  const VulkanMemory &target = own(to), &source = own(from);
  const VkBufferCopy region{source.base() + from.offset, target.base() + to.offset, to.size};
  device_.vk().CmdCopyBuffer(commands_, source.buffer(), target.buffer(), 1, &region);
}

void Batch::fill_words(const sdk::Range& to, uint32_t word) {
  const VulkanMemory& memory = own(to);
  device_.vk().CmdFillBuffer(commands_, memory.buffer(), memory.base() + to.offset, to.size, word);
}

void Batch::write(const sdk::Range& to, const std::byte* from) {
  if (!written_) written_.emplace(device_, device_.device_type(), kWriteBytes, false);
  const sdk::Range start{&*written_, 0, to.size};
  touch(start, true);
  device_.vk().CmdUpdateBuffer(commands_, written_->buffer(), 0, sdk::whole_words(to.size), from);
  copy_in_order(to, start);
}

void Batch::barrier() { barrier_before(kStages, kWrites | kReads); }

void Batch::barrier_before(VkPipelineStageFlags stage, VkAccessFlags access) {
  const VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, kWrites, access};
  device_.vk().CmdPipelineBarrier(commands_, kStages, stage, 0, 1, &all, 0, nullptr, 0, nullptr);
}

}  // namespace tenon::vulkan
