// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From commands of the ABI to those of Vulkan.
#include "plugins/vulkan/batch.hpp"

#include <algorithm>

#include "plugins/vulkan/device.hpp"
#include "plugins/vulkan/executable.hpp"

namespace tenon::vulkan {
namespace {

constexpr uint64_t kSeedBytes = 256;  // a multiple of every pattern
constexpr VkPipelineStageFlags kStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags kReads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

[[noreturn]] void refuse(const std::string& message) {
  throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, message);
}

}  // namespace

Batch::Batch(VulkanDevice& device) : device_(device) {
  const Functions& vk = device.vk();
  const VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr, 0,
                                     device.adapter().family};
  device.make(vk.CreateCommandPool, vk.DestroyCommandPool, pool, pool_, "submit");
  const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr,
                                         pool_, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
  device.check(vk.AllocateCommandBuffers(device.handle(), &info, &commands_), "submit");
}

void Batch::record(const sdk::Submission& submission) {
  const Functions& vk = device_.vk();
  hazards_.clear();
  device_.check(vk.ResetCommandPool(device_.handle(), pool_, 0), "submit");
  reserve_sets(submission);
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                       VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  device_.check(vk.BeginCommandBuffer(commands_, &begin), "submit");
  for (uint32_t i = 0; i < submission.command_count(); ++i) {
    const tn_command c = submission.command(i);
    if (c.kind == TN_COMMAND_LAUNCH) {
      launch(c);
      continue;
    }
    sdk::check_range(c.destination, c.destination_offset, c.size, "a destination");
    if (c.kind == TN_COMMAND_COPY) sdk::check_range(c.source, c.source_offset, c.size, "a source");
    if (c.size == 0) continue;
    if (c.kind == TN_COMMAND_FILL) {
      fill(c);
    } else {
      copy(own(c.destination), c.destination_offset, own(c.source), c.source_offset, c.size);
    }
  }
  barrier(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  device_.check(vk.EndCommandBuffer(commands_), "submit");
}

void Batch::reserve_sets(const sdk::Submission& submission) {
  uint32_t sets = 0, buffers = 0;
  for (uint32_t i = 0; i < submission.command_count(); ++i) {
    const tn_command command = submission.command(i);
    if (command.kind != TN_COMMAND_LAUNCH) continue;
    ++sets;
    buffers += command.argument_count;
  }
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

const VulkanMemory& Batch::own(tn_memory* handle) const {
  const auto& memory = static_cast<const VulkanMemory&>(*sdk::memory_of(handle));
  if (&memory.device() != &device_) refuse("submit: expected memory of this device");
  return memory;
}

void Batch::launch(const tn_command& command) {
  const auto& executable =
      static_cast<const VulkanExecutable&>(*sdk::executable_of(command.executable));
  if (executable.device() != &device_)
    refuse("launch: expected an executable compiled for this device");
  sdk::check_launch(command, executable.signature());
  const VkPhysicalDeviceLimits& limits = device_.adapter().limits();
  for (int axis = 0; axis < 3; ++axis) {
    if (command.grid[axis] > limits.maxComputeWorkGroupCount[axis])
      refuse(fmt::format("launch: expected grid[{}] of at most {}, got {}", axis,
                         limits.maxComputeWorkGroupCount[axis], command.grid[axis]));
  }
  const sdk::ShaderBindings::Bound bound = executable.bindings().bind(command);
  std::vector<VkDescriptorBufferInfo> buffers;
  std::vector<sdk::Hazards::Access> accesses;
  for (const auto& [argument, is_written] : bound.buffers) {
    if (argument->size == 0) {
      buffers.push_back({device_.dummy(), 0, VK_WHOLE_SIZE});
      continue;
    }
    const VulkanMemory& memory = own(argument->memory);
    const uint64_t offset = memory.base() + argument->offset;
    if (offset % device_.alignment() || argument->size > limits.maxStorageBufferRange)
      refuse(fmt::format("launch: expected buffers aligned to {} of at most {} bytes, got {} at {}",
                         device_.alignment(), limits.maxStorageBufferRange, argument->size,
                         argument->offset));
    buffers.push_back({memory.buffer(), offset, argument->size});
    accesses.push_back({&memory, argument->offset, argument->size, is_written});
  }
  if (!command.grid[0] || !command.grid[1] || !command.grid[2]) return;
  touch(accesses);
  const Functions& vk = device_.vk();
  if (!buffers.empty()) {
    const VkDescriptorSetLayout layout = executable.set_layout();
    const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr,
                                           descriptors_, 1, &layout};
    VkDescriptorSet set;
    device_.check(vk.AllocateDescriptorSets(device_.handle(), &info, &set), "launch");
    // One descriptor a binding: the update runs over into the next binding.
    const VkWriteDescriptorSet write{.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                     .dstSet = set,
                                     .descriptorCount = static_cast<uint32_t>(buffers.size()),
                                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                     .pBufferInfo = buffers.data()};
    vk.UpdateDescriptorSets(device_.handle(), 1, &write, 0, nullptr);
    vk.CmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, executable.layout(), 0, 1,
                             &set, 0, nullptr);
  }
  if (!bound.scalars.empty())
    vk.CmdPushConstants(commands_, executable.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                        static_cast<uint32_t>(bound.scalars.size()), bound.scalars.data());
  vk.CmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, executable.pipeline());
  vk.CmdDispatch(commands_, command.grid[0], command.grid[1], command.grid[2]);
}

void Batch::fill(const tn_command& command) {
  const Functions& vk = device_.vk();
  const VulkanMemory& memory = own(command.destination);
  const uint64_t start = command.destination_offset, begin = memory.base() + start;
  const uint64_t pattern = sdk::repeat_pattern(command.pattern, command.pattern_size);
  if (begin % 4 == 0 && command.size % 4 == 0 && pattern >> 32 == (pattern & UINT32_MAX)) {
    touch({{&memory, start, command.size, true}});
    return vk.CmdFillBuffer(commands_, memory.buffer(), begin, command.size,
                            static_cast<uint32_t>(pattern));
  }
  // The first bytes from a seed, then what is there is doubled.
  if (!seed_) seed_.emplace(device_, device_.device_type(), kSeedBytes, false);
  const std::vector<uint64_t> seed(kSeedBytes / sizeof pattern, pattern);
  touch({{&*seed_, 0, kSeedBytes, true}});
  vk.CmdUpdateBuffer(commands_, seed_->buffer(), 0, kSeedBytes, seed.data());
  uint64_t done = std::min(command.size, kSeedBytes);
  copy(memory, start, *seed_, 0, done);
  while (done < command.size) {
    const uint64_t piece = std::min(done, command.size - done);
    copy(memory, start + done, memory, start, piece);
    done += piece;
  }
}

void Batch::copy(const VulkanMemory& to, uint64_t to_offset, const VulkanMemory& from,
                 uint64_t from_offset, uint64_t size) {
  touch({{&from, from_offset, size, false}, {&to, to_offset, size, true}});
  const VkBufferCopy region{from.base() + from_offset, to.base() + to_offset, size};
  device_.vk().CmdCopyBuffer(commands_, from.buffer(), to.buffer(), 1, &region);
}

void Batch::touch(const std::vector<sdk::Hazards::Access>& command) {
  if (hazards_.need_barrier(command)) barrier(kStages, kWrites | kReads);
}

void Batch::barrier(VkPipelineStageFlags stage, VkAccessFlags access) {
  const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, kWrites, access};
  device_.vk().CmdPipelineBarrier(commands_, kStages, stage, 0, 1, &barrier, 0, nullptr, 0,
                                  nullptr);
}

}  // namespace tenon::vulkan
