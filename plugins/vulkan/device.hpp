// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An open device with its memory spaces and its one queue.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>

#include "plugins/vulkan/driver.hpp"
#include "plugins/vulkan/memory.hpp"
#include "plugins/vulkan/target.hpp"
#include "sdk/stream/counted_queue.hpp"

namespace tenon::vulkan {

class Batch;

class VulkanDevice : public sdk::Device, private sdk::CountedQueue {
 public:
  /// `staged`: its memory counts as apart from the host's even where it is not.
  VulkanDevice(Driver& driver, const Adapter& adapter, const TargetSpec& target, bool staged);
  ~VulkanDevice() override;

  const tn_properties& properties() const override { return properties_->get(); }
  std::unique_ptr<sdk::Memory> allocate(uint32_t space, uint64_t size) override;
  std::unique_ptr<sdk::Memory> import_host(uint32_t space, void* pointer, uint64_t size) override;
  void submit(const sdk::Submission& submission) override;
  std::unique_ptr<sdk::Timeline> make_timeline(uint64_t value) override;

  const Functions& vk() const { return vk_; }
  VkDevice handle() const { return handle_.device; }
  const Adapter& adapter() const { return adapter_; }
  const TargetSpec& target() const { return target_; }
  uint64_t alignment() const;  ///< bytes, of what a launch binds
  uint32_t device_type() const { return spaces_[0]; }
  uint32_t coherent_type(uint32_t allowed) const;  ///< throws TN_ERROR_UNSUPPORTED
  VkBuffer dummy() const { return dummy_->buffer(); }

  /// Throws Failure unless it is a success, and remembers that the device is lost.
  void check(VkResult result, const char* what);
  /// The same for a function that creates what `out` is to own.
  template <class Create, class Destroy, class Info, class Object>
  void make(Create create, Destroy destroy, const Info& info, Owned<Object>& out,
            const char* what) {
    check(create(handle(), &info, nullptr, out.fill(handle(), destroy)), what);
  }
  void check_messages() { driver_.check_messages(); }
  /// Throws TN_ERROR_DEVICE_LOST once it was lost.
  void require_alive() const;

 private:
  struct Handle {
    VkDevice device = VK_NULL_HANDLE;
    PFN_vkDestroyDevice destroy = nullptr;
    ~Handle() {
      if (device) destroy(device, nullptr);
    }
  };
  void create();
  void choose_spaces(bool staged);
  uint64_t ended() override;
  void wait_for(uint64_t number) override;
  std::shared_ptr<Batch> take_batch();
  void hand_over(std::shared_ptr<Batch> batch, uint64_t number, uint64_t after);

  Driver& driver_;
  const Adapter& adapter_;
  const TargetSpec target_;
  Functions vk_;
  std::atomic<bool> is_lost_ = false;
  Handle handle_;
  std::vector<uint32_t> spaces_;  ///< the memory type of each
  std::unique_ptr<sdk::PropertyTable> properties_;
  std::optional<VulkanMemory> dummy_;  ///< bound where a launch has no bytes
  VkQueue queue_ = VK_NULL_HANDLE;
  Owned<VkSemaphore> progress_;  ///< counts the submissions that have ended
  std::mutex mutex_;
  std::deque<std::shared_ptr<Batch>> batches_;  ///< handed over, in order
};

}  // namespace tenon::vulkan
