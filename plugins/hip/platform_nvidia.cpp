// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVIDIA's platform: HIP's inline functions, which call the linked CUDA runtime and driver. Code
// uses NVRTC and the CUDA dialect.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "plugins/hip/driver.hpp"
#include "plugins/hip/nvidia.hpp"
#include "sdk/backend/shared_library.hpp"
#include "sdk/render/cuda_dialect.hpp"
#include "sdk/stream/compiler.hpp"

namespace tenon::hip {
namespace {

/// For devices only. Uses the NVRTC version of the linked CUDA runtime, as a driver supports both
/// or neither.
class NvidiaCompiler : public sdk::StreamCompiler {
 public:
  explicit NvidiaCompiler(int runtime)
      : nvrtc_(std::array{fmt::format("libnvrtc.so.{}", runtime / 1000)}, "nvrtc", "CUBIN", "PTX") {
  }
  std::optional<sdk::StreamLimits> find_target(std::string_view) const override { return {}; }
  void compile(const sdk::ProgramView&, sdk::StreamCode& code) const override {
    code.binary = run(code, sdk::RuntimeCompiler::Output::kCode);
  }
  std::string disassemble(const sdk::StreamCode& code) const override {
    const auto bytes = run(code, sdk::RuntimeCompiler::Output::kText);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::string identity() const override { return "NVRTC for HIP " + nvrtc_.version(); }

 private:
  std::vector<std::byte> run(const sdk::StreamCode& code, sdk::RuntimeCompiler::Output out) const {
    const std::string options[] = {"-arch=" + code.target, "-std=c++17", "-fmad=false"};
    return nvrtc_.compile(code.source, options, out).bytes;
  }

  const sdk::RuntimeCompiler nvrtc_;
};

std::span<const tn_matrix_atom> nvidia_atoms(std::string_view target) {
  int capability = 0;
  const std::string_view digits = target.substr(target.find('_') + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), capability);
  return sdk::cuda_atoms(capability);
}

}  // namespace

void Driver::bind() {
  sdk::StreamApi& api = api_;
  HipFunctions& hip = hip_;
#define HIP(slot, function) slot = reinterpret_cast<decltype(slot)>(&function);
#define OPTIONAL HIP
#define AMD(slot, function)
#include "plugins/hip/functions.def"
#undef HIP
#undef OPTIONAL
#undef AMD
}

std::string Driver::target(uint32_t device) const {
  return fmt::format("sm_{}{}", attribute(hipDeviceAttributeComputeCapabilityMajor, device),
                     attribute(hipDeviceAttributeComputeCapabilityMinor, device));
}

sdk::StreamLimits Driver::limits(std::string_view) const { return {}; }

const sdk::StreamPlatform& platform() {
  static constexpr sdk::StreamPlatform kNvidia = {
      [] { return std::unique_ptr<sdk::StreamVendor>(new Driver()); },
      [](int version) { return std::unique_ptr<sdk::StreamCompiler>(new NvidiaCompiler(version)); },
      sdk::cuda_dialect, nvidia_atoms};
  return kNvidia;
}

}  // namespace tenon::hip
