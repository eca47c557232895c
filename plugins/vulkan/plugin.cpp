// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Vulkan backend.
#include <cstdlib>

#include "plugins/vulkan/device.hpp"
#include "plugins/vulkan/executable.hpp"
#include "sdk/backend/named_targets.hpp"
#include "sdk/backend/per_process.hpp"

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
      const Driver& found = driver(wants_validation());
      for (const auto& adapter : found.adapters()) out.push_back(adapter->info());
      reason = found.reason();
    } catch (const sdk::Failure& failure) {
      reason = failure.what();
    }
    return out;
  }

  std::unique_ptr<sdk::Device> open(uint32_t index, sdk::Options& options) override {
    const bool validate = options.take_integer("validation", 0, 1, wants_validation());
    const bool staged = options.take_integer("staging", 0, 1, 0);
    const bool packs = options.take_integer("packed", 0, 1, 0);
    Driver& opened = driver(validate);
    const Adapter& adapter = *opened.adapters().at(index);
    sdk::SpirvTarget target = target_of(adapter);
    if (packs) {
      target.i8 = target.i16 = false;
      target.atoms.clear();
    }
    return std::make_unique<VulkanDevice>(opened, adapter, target, staged);
  }

  const tn_properties* target(std::string_view name) override {
    return targets_.find(name, [&] { return sdk::named_spirv_properties(name); });
  }

  tn_support supports(const sdk::Target& target, const sdk::ProgramView& program,
                      std::string& reason) override {
    const auto* device = device_of(target);
    reason = sdk::exceeds_spirv_limits(program,
                                       device ? limits_of(device->adapter()) : sdk::SpirvLimits{});
    return reason.empty() ? TN_SUPPORT_YES : TN_SUPPORT_NO;
  }

  std::unique_ptr<sdk::Executable> compile(const sdk::Target& target,
                                           const sdk::ProgramView& program,
                                           tn_compile_report& report) override {
    auto executable = std::make_unique<VulkanExecutable>(
        sdk::compile_spirv(program, spirv_target(target)), device_of(target));
    report.binary_bytes = executable->words().size_bytes();
    report.shared_bytes = program.header().shared_bytes;
    return executable;
  }

  std::unique_ptr<sdk::Executable> load(const sdk::Target& target,
                                        std::span<const std::byte> bytes) override {
    VulkanDevice* const device = device_of(target);
    return std::make_unique<VulkanExecutable>(
        sdk::load_spirv(bytes, spirv_target(target), VulkanExecutable::identity(device)), device);
  }

  const void* extension(std::string_view id) override {
    return id == TN_TIMING_ID ? &sdk::timing_table() : nullptr;
  }

 private:
  static VulkanDevice* device_of(const sdk::Target& target) {
    return static_cast<VulkanDevice*>(target.device);
  }
  static sdk::SpirvTarget spirv_target(const sdk::Target& target) {
    return target.device ? device_of(target)->target()
                         : sdk::find_spirv_target(target.name).value();
  }

  Driver& driver(bool validate) {
    return drivers_[validate].get([&] { return std::make_unique<Driver>(validate); });
  }

  sdk::PerProcess<Driver> drivers_[2];  ///< without and with the validation layer
  sdk::NamedTargets<> targets_;
};

}  // namespace
}  // namespace tenon::vulkan

TENON_BACKEND(tenon::vulkan::VulkanBackend)
