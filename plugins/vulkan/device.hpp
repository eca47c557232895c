// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An open device with its memory spaces and its one queue.
#pragma once

#include <memory>
#include <optional>

#include "plugins/vulkan/driver.hpp"
#include "plugins/vulkan/memory.hpp"
#include "plugins/vulkan/target.hpp"
#include "sdk/backend/timing.hpp"
#include "sdk/shader/recording_device.hpp"

namespace tenon::vulkan {

class VulkanDevice : public sdk::RecordingDevice, public sdk::TimedDevice {
 public:
  /// `staged`: treats device memory as not visible to the host.
  VulkanDevice(Driver& driver, const Adapter& adapter, const sdk::SpirvTarget& target, bool staged);
  ~VulkanDevice() override;

  const tn_properties& properties() const override { return properties_->get(); }
  std::unique_ptr<sdk::Memory> allocate(uint32_t space, uint64_t size) override;
  std::unique_ptr<sdk::Memory> import_host(uint32_t space, void* pointer, uint64_t size) override;
  uint64_t run_timed(const tn_submission& commands) override;

  const Functions& vk() const { return vk_; }
  VkDevice handle() const { return handle_.get(); }
  const Adapter& adapter() const { return adapter_; }
  const sdk::SpirvTarget& target() const { return target_; }
  uint32_t device_type() const { return spaces_[0]; }
  VkBuffer dummy() const { return dummy_->buffer(); }

  /// Throws Failure unless the result is a success, and records a lost device.
  void check(VkResult result, const char* what);
  /// The same for a function that creates an object for `out`.
  template <class Create, class Destroy, class Info, class Object>
  void make(Create create, Destroy destroy, const Info& info, Owned<Object>& out,
            const char* what) {
    check(create(handle(), &info, nullptr, out.fill(handle(), destroy)), what);
  }
  void check_messages() { driver_.check_messages(); }

 private:
  void create();
  void choose_spaces(bool staged);
  uint64_t last_ended() override;
  void wait_for(uint64_t number) override;
  std::unique_ptr<sdk::Recorder> make_recorder() override;
  void hand_over(sdk::Recorder& recorder, uint64_t number, uint64_t after) override;

  Driver& driver_;
  const Adapter& adapter_;
  const sdk::SpirvTarget target_;
  Functions vk_;
  std::shared_ptr<VkDevice_T> handle_;
  std::vector<uint32_t> spaces_;  ///< the memory type of each
  std::unique_ptr<sdk::PropertyTable> properties_;
  std::optional<VulkanMemory> dummy_;  ///< bound for empty buffers
  VkQueue queue_ = VK_NULL_HANDLE;
  Owned<VkSemaphore> progress_;  ///< counts the submissions that have ended
};

}  // namespace tenon::vulkan
