// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From commands of the ABI to those of Vulkan.
#include "plugins/vulkan/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "plugins/vulkan/device.hpp"
#include "plugins/vulkan/executable.hpp"

namespace tenon::vulkan {
namespace {

constexpr uint64_t kSeedBytes = 256;  // a multiple of every pattern
constexpr VkPipelineStageFlags kStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr size_t kManyAccesses = 64;  // then a barrier costs less than looking through them

[[noreturn]] void refuse(const std::string& message) {
  throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, message);
}

/// The low `size` bytes of the pattern repeated.
uint64_t repeat(uint64_t pattern, uint32_t size) {
  if (size == 8) return pattern;
  pattern &= (uint64_t{1} << (size * 8)) - 1;
  for (uint32_t bits = size * 8; bits < 64; bits *= 2) pattern |= pattern << bits;
  return pattern;
}

}  // namespace

Batch::Batch(VulkanDevice& device) : device_(device) {
  const Functions& vk = device.vk();
  const VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                     .queueFamilyIndex = device.adapter().family};
  device.check(vk.CreateCommandPool(device.handle(), &pool, nullptr, &pool_), "submit");
  const VkCommandBufferAllocateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .commandPool = pool_,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = 1};
  const VkResult result = vk.AllocateCommandBuffers(device.handle(), &info, &commands_);
  if (result < 0) vk.DestroyCommandPool(device.handle(), pool_, nullptr);
  device.check(result, "submit");
}

Batch::~Batch() {
  device_.vk().DestroyDescriptorPool(device_.handle(), descriptors_, nullptr);
  device_.vk().DestroyCommandPool(device_.handle(), pool_, nullptr);
}

void Batch::record(const sdk::Submission& submission) {
  const Functions& vk = device_.vk();
  since_barrier_.clear();
  device_.check(vk.ResetCommandPool(device_.handle(), pool_, 0), "submit");
  reserve_sets(submission);
  const VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                       .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  device_.check(vk.BeginCommandBuffer(commands_, &begin), "submit");
  for (uint32_t i = 0; i < submission.command_count(); ++i) {
    const tn_command command = submission.command(i);
    if (command.kind == TN_COMMAND_LAUNCH) {
      launch(command);
      continue;
    }
    sdk::check_range(command.destination, command.destination_offset, command.size,
                     "a destination");
    if (command.kind == TN_COMMAND_COPY)
      sdk::check_range(command.source, command.source_offset, command.size, "a source");
    if (command.size == 0) continue;
    if (command.kind == TN_COMMAND_FILL) {
      fill(command);
    } else {
      copy(own(command.destination), command.destination_offset, own(command.source),
           command.source_offset, command.size);
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
  if (descriptors_ && sets <= set_capacity_ && buffers <= buffer_capacity_)
    return device_.check(vk.ResetDescriptorPool(device_.handle(), descriptors_, 0), "submit");
  vk.DestroyDescriptorPool(device_.handle(), std::exchange(descriptors_, VK_NULL_HANDLE), nullptr);
  set_capacity_ = std::max(2 * sets, 8u);
  buffer_capacity_ = std::max(2 * buffers, 64u);
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffer_capacity_};
  const VkDescriptorPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                        .maxSets = set_capacity_,
                                        .poolSizeCount = 1,
                                        .pPoolSizes = &size};
  device_.check(vk.CreateDescriptorPool(device_.handle(), &info, nullptr, &descriptors_), "submit");
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
  std::vector<VkDescriptorBufferInfo> buffers;
  std::vector<Access> accesses;
  std::vector<std::byte> scalars(executable.scalar_bytes());
  for (uint32_t i = 0; i < command.argument_count; ++i) {
    const tn_argument& argument = sdk::Submission::argument(command, i);
    if (argument.kind == TN_ARGUMENT_SCALAR) {
      const VulkanExecutable::Slot& slot = executable.slots()[i];
      std::memcpy(scalars.data() + slot.offset, &argument.scalar, slot.bytes);
    } else if (argument.size == 0) {
      buffers.push_back({device_.dummy(), 0, VK_WHOLE_SIZE});
    } else {
      const VulkanMemory& memory = own(argument.memory);
      const uint64_t offset = memory.base() + argument.offset;
      if (offset % device_.alignment() || argument.size > limits.maxStorageBufferRange)
        refuse(fmt::format(
            "launch: expected argument {} aligned to {} and of at most {} bytes, "
            "got {} at {}",
            i, device_.alignment(), limits.maxStorageBufferRange, argument.size, argument.offset));
      buffers.push_back({memory.buffer(), offset, argument.size});
      const bool writes = executable.signature().arguments[i].access & TN_ACCESS_WRITE;
      accesses.push_back({&memory, argument.offset, argument.size, writes});
    }
  }
  if (!command.grid[0] || !command.grid[1] || !command.grid[2]) return;
  touch(accesses);
  const Functions& vk = device_.vk();
  if (!buffers.empty()) {
    const VkDescriptorSetLayout layout = executable.set_layout();
    const VkDescriptorSetAllocateInfo info{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                           .descriptorPool = descriptors_,
                                           .descriptorSetCount = 1,
                                           .pSetLayouts = &layout};
    VkDescriptorSet set;
    device_.check(vk.AllocateDescriptorSets(device_.handle(), &info, &set), "launch");
    // One descriptor a binding: updates run over into the next binding.
    const VkWriteDescriptorSet write{.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                     .dstSet = set,
                                     .descriptorCount = static_cast<uint32_t>(buffers.size()),
                                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                     .pBufferInfo = buffers.data()};
    vk.UpdateDescriptorSets(device_.handle(), 1, &write, 0, nullptr);
    vk.CmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, executable.layout(), 0, 1,
                             &set, 0, nullptr);
  }
  if (!scalars.empty())
    vk.CmdPushConstants(commands_, executable.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                        executable.scalar_bytes(), scalars.data());
  vk.CmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, executable.pipeline());
  vk.CmdDispatch(commands_, command.grid[0], command.grid[1], command.grid[2]);
}

void Batch::fill(const tn_command& command) {
  const Functions& vk = device_.vk();
  const VulkanMemory& memory = own(command.destination);
  const uint64_t start = command.destination_offset, begin = memory.base() + start;
  const uint64_t pattern = repeat(command.pattern, command.pattern_size);
  if (begin % 4 == 0 && command.size % 4 == 0 && pattern >> 32 == (pattern & UINT32_MAX)) {
    touch({{&memory, start, command.size, true}});
    return vk.CmdFillBuffer(commands_, memory.buffer(), begin, command.size,
                            static_cast<uint32_t>(pattern));
  }
  // The first bytes from a seed, then what is there is doubled.
  if (!seed_)
    seed_ = std::make_unique<VulkanMemory>(device_, device_.device_type(), kSeedBytes, false);
  const std::vector<uint64_t> seed(kSeedBytes / sizeof pattern, pattern);
  touch({{seed_.get(), 0, kSeedBytes, true}});
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
  const VkBufferCopy region = {from.base() + from_offset, to.base() + to_offset, size};
  device_.vk().CmdCopyBuffer(commands_, from.buffer(), to.buffer(), 1, &region);
}

void Batch::touch(const std::vector<Access>& accesses) {
  const auto collides = [](const Access& a, const Access& b) {
    return a.memory == b.memory && (a.writes || b.writes) && a.begin < b.begin + b.size &&
           b.begin < a.begin + a.size;
  };
  const bool waits_for = std::ranges::any_of(accesses, [&](const Access& now) {
    return std::ranges::any_of(since_barrier_,
                               [&](const Access& before) { return collides(before, now); });
  });
  if (waits_for || since_barrier_.size() > kManyAccesses) {
    barrier(kStages, kWrites | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT);
    since_barrier_.clear();
  }
  since_barrier_.insert(since_barrier_.end(), accesses.begin(), accesses.end());
}

void Batch::barrier(VkPipelineStageFlags stage, VkAccessFlags access) {
  const VkMemoryBarrier barrier{
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = kWrites, .dstAccessMask = access};
  device_.vk().CmdPipelineBarrier(commands_, kStages, stage, 0, 1, &barrier, 0, nullptr, 0,
                                  nullptr);
}

}  // namespace tenon::vulkan
