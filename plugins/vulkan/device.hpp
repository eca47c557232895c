// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An open device.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "plugins/vulkan/driver.hpp"
#include "plugins/vulkan/memory.hpp"
#include "plugins/vulkan/queue.hpp"
#include "plugins/vulkan/target.hpp"
#include "sdk/helpers/property_table.hpp"

namespace tenon::vulkan {

class VulkanDevice : public sdk::Device {
 public:
  /// `staged`: its memory counts as apart from the host's even where it is not.
  VulkanDevice(std::shared_ptr<Driver> driver, const Adapter& adapter, const TargetSpec& target,
               bool staged);
  ~VulkanDevice() override;

  const tn_properties& properties() const override { return properties_->get(); }
  std::unique_ptr<sdk::Memory> allocate(uint32_t space, uint64_t size) override;
  std::unique_ptr<sdk::Memory> import_host(uint32_t space, void* pointer, uint64_t size) override;
  void submit(const sdk::Submission& submission) override;
  std::unique_ptr<sdk::Timeline> make_timeline(uint64_t value) override;

  const Functions& vk() const { return vk_; }
  VkDevice handle() const { return handle_; }
  const Adapter& adapter() const { return adapter_; }
  const TargetSpec& target() const { return target_; }
  uint64_t alignment() const;  ///< bytes, of what a launch binds
  /// Whether a pipeline can ask for a size of subgroups.
  bool sets_subgroup_size() const { return adapter_.size_control.subgroupSizeControl; }
  uint32_t device_type() const { return spaces_[0]; }
  uint32_t coherent_type(uint32_t allowed) const;  ///< throws TN_ERROR_UNSUPPORTED
  VkBuffer dummy() const { return dummy_->buffer(); }

  /// Throws Failure unless it is a success, and remembers that the device is lost.
  void check(VkResult result, const char* what);
  void check_messages() { driver_->check_messages(); }
  void lose() { is_lost_ = true; }
  /// Throws TN_ERROR_DEVICE_LOST once it was lost.
  void require_alive() const;

 private:
  void create();
  void choose_spaces(bool staged);

  std::shared_ptr<Driver> driver_;
  const Adapter& adapter_;
  const TargetSpec target_;
  Functions vk_;
  VkDevice handle_ = VK_NULL_HANDLE;
  std::atomic<bool> is_lost_ = false;
  std::vector<uint32_t> spaces_;  ///< the memory type of each
  std::unique_ptr<sdk::PropertyTable> properties_;
  std::unique_ptr<VulkanMemory> dummy_;  ///< bound where a launch has no bytes
  std::optional<Queue> queue_;
};

}  // namespace tenon::vulkan
