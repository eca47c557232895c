// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libtenon_planted.so: a sound interpreter, and with the device option bug=NAME one with a planted
// bug, so that the conformance tool can be measured. `planted:0@bug=exp2_ln2`; with compile_ms=300
// one that compiles as slowly.
#include <fmt/format.h>

#include <thread>

#include "conformance/selftest/plugin/calls.hpp"
#include "conformance/selftest/plugin/device.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon::planted {
namespace {

class PlantedBackend : public sdk::Backend {
 public:
  static constexpr sdk::BackendInfo kInfo = {"planted", "0.1.0", "Apache-2.0 WITH LLVM-exception",
                                             -1000};

  std::vector<tn_device_info> enumerate(std::string&) override {
    return {sdk::device_info(TN_DEVICE_ACCELERATOR, "interpreter with planted bugs", "planted")};
  }

  std::unique_ptr<sdk::Device> open(uint32_t, sdk::Options& options) override {
    const auto name = options.take("bug");
    const VariantRow* row = name ? find_variant(*name) : nullptr;
    if (name && !row) {
      throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT,
                         fmt::format("option bug: expected a planted bug, got \"{}\"", *name));
    }
    const std::string time = options.take("compile_ms").value_or("0");
    const auto milliseconds = sdk::number_of<uint32_t>(time);
    if (!milliseconds)
      throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT,
                         fmt::format("option compile_ms: expected milliseconds, got \"{}\"", time));
    return std::make_unique<PlantedDevice>(row ? row->variant : Variant::none,
                                           std::chrono::milliseconds(*milliseconds));
  }

  const tn_properties* target(std::string_view name) override {
    static const sdk::PropertyTable* const table = make_properties(Variant::none).release();
    return name == "planted" ? &table->get() : nullptr;
  }

  std::unique_ptr<sdk::Executable> compile(const sdk::Target& target,
                                           const sdk::ProgramView& program,
                                           tn_compile_report&) override {
    const auto* device = static_cast<const PlantedDevice*>(target.device);
    if (device) std::this_thread::sleep_for(device->compile_time());
    return made(target, program);
  }

  std::unique_ptr<sdk::Executable> load(const sdk::Target& target,
                                        std::span<const std::byte> bytes) override {
    return made(target, PlantedExecutable::saved_program(bytes).view());
  }

 private:
  static std::unique_ptr<sdk::Executable> made(const sdk::Target& target,
                                               const sdk::ProgramView& program) {
    CodeCache fresh(Variant::none);
    auto* device = static_cast<PlantedDevice*>(target.device);
    CodeCache& cache = device ? device->cache() : fresh;
    return std::make_unique<PlantedExecutable>(sdk::Program(program), cache.find_or_make(program));
  }
};

using Table = sdk::BackendTable<PlantedBackend>;

}  // namespace
}  // namespace tenon::planted

extern "C" TN_EXPORT const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min,
                                                      uint32_t abi_max, tn_error* error) {
  using namespace tenon::planted;
  const tn_plugin* plain = Table::query(host, abi_min, abi_max, error);
  if (!plain) return nullptr;
  remember_host(host);
  static const tn_plugin plugin = with_planted_calls(*plain);
  return &plugin;
}
