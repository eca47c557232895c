// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Vulkan backend.
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "plugins/vulkan/device.hpp"
#include "plugins/vulkan/executable.hpp"

namespace tenon::vulkan {
namespace {

bool wants_validation() {
  const char* text = std::getenv("TENON_VULKAN_VALIDATION");
  return text && std::string_view(text) == "1";
}

class VulkanBackend : public sdk::Backend {
 public:
  static constexpr sdk::BackendInfo kInfo{"vulkan", TENON_VERSION,
                                          "Apache-2.0 WITH LLVM-exception"};

  std::vector<tn_device_info> enumerate(std::string& reason) override {
    std::vector<tn_device_info> out;
    try {
      const std::shared_ptr<Driver> found = driver(wants_validation());
      for (const auto& adapter : found->adapters()) out.push_back(adapter->info());
      reason = found->reason();
    } catch (const sdk::Failure& failure) {
      reason = failure.what();
    }
    return out;
  }

  std::unique_ptr<sdk::Device> open(uint32_t index, sdk::Options& options) override {
    const bool validate = options.take_integer("validation", 0, 1, wants_validation());
    const bool staged = options.take_integer("staging", 0, 1, 0);
    const bool packs = options.take_integer("packed", 0, 1, 0);
    const std::shared_ptr<Driver> opened = driver(validate);
    const Adapter& adapter = *opened->adapters().at(index);
    TargetSpec target = target_of(adapter);
    if (packs) target.i8 = target.i16 = false;
    return std::make_unique<VulkanDevice>(opened, adapter, target, staged);
  }

  const tn_properties* target(std::string_view name) override {
    const std::lock_guard lock(mutex_);
    if (auto known = targets_.find(name); known != targets_.end()) return &known->second->get();
    const auto spec = find_target(name);
    if (!spec) return nullptr;
    auto table = target_properties(*spec);
    tn_memory_space space = TN_INIT(tn_memory_space);
    space.flags = TN_MEMORY_DEVICE;
    space.alignment = 256;  // at most, in Vulkan 1.2
    space.copy_from = 1;
    table->add_memory(space);
    return &targets_.emplace(name, std::move(table)).first->second->get();
  }

  tn_support supports(const sdk::Target& target, const sdk::ProgramView& program,
                      std::string& reason) override {
    reason = unsupported(program, target.device ? &device_of(target)->adapter() : nullptr);
    return reason.empty() ? TN_SUPPORT_YES : TN_SUPPORT_NO;
  }

  std::unique_ptr<sdk::Executable> compile(const sdk::Target& target,
                                           const sdk::ProgramView& program,
                                           tn_compile_report& report) override {
    auto executable = VulkanExecutable::compile(program, spec_of(target), device_of(target));
    report.binary_bytes = executable->binary_bytes();
    report.shared_bytes = program.header().shared_bytes;
    return executable;
  }

  std::unique_ptr<sdk::Executable> load(const sdk::Target& target,
                                        std::span<const std::byte> bytes) override {
    return VulkanExecutable::load(bytes, spec_of(target), device_of(target));
  }

 private:
  static VulkanDevice* device_of(const sdk::Target& target) {
    return static_cast<VulkanDevice*>(target.device);
  }
  static TargetSpec spec_of(const sdk::Target& target) {
    return target.device ? device_of(target)->target() : find_target(target.name).value();
  }

  /// One instance with and one without the validation layer, made when first needed. A child made
  /// by fork needs its own: the threads of its parent's are not there to end.
  std::shared_ptr<Driver> driver(bool validate) {
    const std::lock_guard lock(mutex_);
    if (process_ != getpid()) {
      for (std::shared_ptr<Driver>& parents : drivers_)
        new std::shared_ptr<Driver>(std::move(parents));  // never destroyed
      process_ = getpid();
    }
    std::shared_ptr<Driver>& slot = drivers_[validate];
    if (!slot) slot = std::make_shared<Driver>(validate);
    return slot;
  }

  std::mutex mutex_;
  pid_t process_ = getpid();
  std::shared_ptr<Driver> drivers_[2];
  std::map<std::string, std::unique_ptr<sdk::PropertyTable>, std::less<>> targets_;
};

}  // namespace
}  // namespace tenon::vulkan

TENON_BACKEND(tenon::vulkan::VulkanBackend)
