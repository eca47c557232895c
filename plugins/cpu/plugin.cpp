// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU backend: one device, the host's own processor.
#include <algorithm>
#include <memory>

#include "plugins/cpu/device.hpp"
#include "plugins/cpu/executable.hpp"
#include "plugins/cpu/supports.hpp"
#include "sdk/backend/checksum.hpp"
#include "sdk/backend/named_targets.hpp"

namespace tenon::cpu {
namespace {

constexpr int64_t kMaxThreads = 1024;

class CpuBackend : public sdk::Backend {
 public:
  /// Priority before software drivers of other backends.
  static constexpr sdk::BackendInfo kInfo{"cpu", TENON_VERSION, "Apache-2.0 WITH LLVM-exception",
                                          100};

  std::vector<tn_device_info> enumerate(std::string&) override {
    tn_device_info info = TN_INIT(tn_device_info);
    info.kind = TN_DEVICE_CPU;
    sdk::copy_text(info.name, sizeof info.name, host_.processor);
    sdk::copy_text(info.driver, sizeof info.driver, driver_name());
    sdk::copy_text(info.target, sizeof info.target, host_target().name);
    const std::string identity = host_.processor + '\n' + host_target().name;
    const uint64_t low = sdk::checksum(identity.data(), identity.size());
    const uint64_t high = sdk::checksum(identity.data(), identity.size(), low);
    std::memcpy(info.uuid, &low, sizeof low);
    std::memcpy(info.uuid + sizeof low, &high, sizeof high);
    return {info};
  }

  std::unique_ptr<sdk::Device> open(uint32_t, sdk::Options& options) override {
    const int64_t asked = options.take_integer("threads", 1, kMaxThreads, host_.threads);
    // More threads than cores would only wait for each other.
    const unsigned threads = std::min(static_cast<unsigned>(asked), host_.threads);
    return std::make_unique<CpuDevice>(host_, threads);
  }

  const tn_properties* target(std::string_view name) override {
    return targets_.find(name, [&] {
      const auto spec = find_target(name);
      return spec ? std::make_unique<Properties>(*spec, host_, host_.threads) : nullptr;
    });
  }

  tn_support supports(const sdk::Target&, const sdk::ProgramView& program,
                      std::string& reason) override {
    reason = unsupported(program);
    return reason.empty() ? TN_SUPPORT_YES : TN_SUPPORT_NO;
  }

  std::unique_ptr<sdk::Executable> compile(const sdk::Target& target,
                                           const sdk::ProgramView& program,
                                           tn_compile_report& report) override {
    auto executable = CpuExecutable::compile(program, spec_of(target), target.device != nullptr);
    report.binary_bytes = executable->object_bytes();
    report.shared_bytes = program.header().shared_bytes;
    return executable;
  }

  std::unique_ptr<sdk::Executable> load(const sdk::Target& target,
                                        std::span<const std::byte> bytes) override {
    return CpuExecutable::load(bytes, spec_of(target), target.device != nullptr);
  }

 private:
  static TargetSpec spec_of(const sdk::Target& target) {
    return target.device ? host_target() : find_target(target.name).value();
  }

  const HostInfo host_ = read_host_info();
  sdk::NamedTargets<Properties> targets_;
};

}  // namespace
}  // namespace tenon::cpu

TENON_BACKEND(tenon::cpu::CpuBackend)
