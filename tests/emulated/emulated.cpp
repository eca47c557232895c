// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A backend with the properties of the GPU that its file is named after, whose kernels the emulator
// runs on the host.
#include <cstdlib>
#include <string_view>

#include "sdk/backend/host_device.hpp"
#include "sdk/render/c_printer.hpp"
#include "sdk/render/cuda_dialect.hpp"
#include "sdk/render/hip_dialect.hpp"
#include "sdk/stream/backend.hpp"
#include "sdk/support/failure.hpp"
#include "tests/emulated/edit.hpp"
#include "tests/plugin_name.hpp"
#include "tests/sdk/gpu_kernels.hpp"

namespace {

namespace sdk = tenon::sdk;

constexpr std::string_view kCuda = "sm_";

/// What the file is named after: a target, or one of these.
struct Variant {
  std::string_view name, target;
  bool flushes = false;  ///< so that units that flush are used
};
constexpr Variant kNamed[] = {{"cuda", "sm_80"}, {"hip", "gfx90a"}, {"flushing", "gfx90a", true}};

const Variant kVariant = [] {
  const std::string_view name =
      std::string_view(tenon::test::plugin_name()).substr(std::string_view("emulated_").size());
  for (const Variant& named : kNamed)
    if (named.name == name) return named;
  return Variant{name, name};
}();
const std::string kTarget(kVariant.target);
const bool kIsCuda = kVariant.target.starts_with(kCuda);
const uint32_t kShared = (kVariant.target == "sm_90a" ? 227
                          : kIsCuda                   ? 163
                                                      : 64)
                         << 10;  // of CUDA more than a kernel may declare

const sdk::Dialect& dialect() { return kIsCuda ? sdk::cuda_dialect() : sdk::hip_dialect(); }
std::span<const tn_matrix_atom> atoms(std::string_view target) {
  if (!kIsCuda) return sdk::hip_atoms(target);
  return sdk::cuda_atoms(std::atoi(target.data() + kCuda.size()), target.ends_with('a'));
}

/// Only says what the device would be.
class Limits : public sdk::StreamCompiler {
 public:
  std::optional<sdk::StreamLimits> find_target(std::string_view) const override {
    sdk::StreamLimits limits;
    limits.subgroup = kIsCuda ? 32 : sdk::hip_subgroup_size(kTarget);
    limits.shared_bytes = kShared;
    limits.compute_units = 4;
    limits.async_copies = kIsCuda;
    return limits;
  }
  void compile(const sdk::ProgramView&, sdk::StreamCode&) const override {}
  std::string disassemble(const sdk::StreamCode&) const override { return {}; }
  std::string identity() const override { return "emulator"; }
};

constexpr sdk::StreamPlatform kPlatform = {
    .open_driver = []() -> std::unique_ptr<sdk::StreamVendor> {
      throw sdk::Failure(TN_ERROR_NOT_FOUND, "there is none");
    },
    .open_compiler = [](int) { return std::unique_ptr<sdk::StreamCompiler>(new Limits()); },
    .dialect = dialect,
    .atoms = atoms,
};

/// Without what a host device does not do.
const tn_properties& emulated_properties() {
  static sdk::StreamBackend claims(kPlatform, "0.1.0");
  static const tn_properties properties = [] {
    static const tn_memory_space space = sdk::host_memory_space(256);
    tn_properties p = *claims.target(kTarget);
    if (kVariant.flushes) p.numerics |= TN_NUMERICS_FLUSH_INPUT | TN_NUMERICS_FLUSH_OUTPUT;
    p.flags = TN_DEVICE_COMPUTE | TN_DEVICE_DETERMINISTIC | TN_DEVICE_SYMBOLIC |
              TN_DEVICE_SUBGROUP_BARRIER;
    p.memory_spaces = &space;
    p.memory_space_count = 1;
    return p;
  }();
  return properties;
}

class EmulatedExecutable : public sdk::ProgramExecutable {
 public:
  explicit EmulatedExecutable(sdk::Program program)
      : ProgramExecutable(std::move(program)),
        kernels_(dialect(), kIsCuda ? "" : kTarget, tenon::emulated::edited) {
    kernels_.add(sdk::Program(this->program()));
    try {
      kernels_.build();
    } catch (const std::runtime_error& error) {
      throw sdk::Failure(TN_ERROR_COMPILE_FAILED, error.what());
    }
  }
  void run(const uint32_t (&grid)[3], void* const* pointers) const {
    kernels_.run_pointers(0, {grid[0], grid[1], grid[2]}, pointers);
  }

 private:
  sdk::GpuKernels kernels_;
};

class EmulatedDevice : public sdk::HostDevice {
 public:
  const tn_properties& properties() const override { return emulated_properties(); }

 protected:
  void launch(const sdk::HostCommand& command, std::span<const sdk::HostArgument> args) override {
    std::vector<void*> pointers;
    std::vector<uint64_t> scalars;
    for (const sdk::HostArgument& argument : args) scalars.push_back(argument.scalar);
    const auto& executable = static_cast<const EmulatedExecutable&>(*command.executable);
    const sdk::ProgramView program = executable.program();
    for (uint32_t i = 0; i < program.param_count(); ++i) {
      const tn_param& param = program.param(i);
      const size_t k = pointers.size();
      if (param.kind == TN_PARAM_BUFFER) pointers.push_back(args[k].data);
      if (param.kind == TN_PARAM_SCALAR) pointers.push_back(&scalars[k]);
    }
    executable.run(command.grid, pointers.data());
  }
};

class EmulatedBackend : public sdk::Backend {
 public:
  static inline const sdk::BackendInfo kInfo = {tenon::test::plugin_name().c_str(), "0.1.0",
                                                "Apache-2.0 WITH LLVM-exception", -300};

  std::vector<tn_device_info> enumerate(std::string&) override {
    return {sdk::device_info(TN_DEVICE_GPU, "emulated GPU", kTarget)};
  }
  std::unique_ptr<sdk::Device> open(uint32_t, sdk::Options&) override {
    return std::make_unique<EmulatedDevice>();
  }
  tn_support supports(const sdk::Target&, const sdk::ProgramView& program,
                      std::string& reason) override {
    try {
      sdk::print_source(program, dialect());
      return TN_SUPPORT_YES;
    } catch (const sdk::Failure& failure) {
      reason = failure.what();
      return TN_SUPPORT_NO;
    }
  }
  std::unique_ptr<sdk::Executable> compile(const sdk::Target&, const sdk::ProgramView& program,
                                           tn_compile_report&) override {
    return std::make_unique<EmulatedExecutable>(sdk::Program(program));
  }
};

}  // namespace

TENON_BACKEND(EmulatedBackend)
