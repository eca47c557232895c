// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/compile_kernel.hpp"

#include "core/support/error.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

constexpr size_t kMostRetries = 2;        ///< to smaller tiles, at most
constexpr uint32_t kFewOfRegisters = 16;  ///< one spilled register of so many is accepted

bool spills(const tn_compile_report& report) {
  return report.spills > report.registers / kFewOfRegisters;
}

}  // namespace

CapabilitiesRef capabilities_of(Device& device) {
  return std::shared_ptr<const Capabilities>(device.shared_from_this(), &device.capabilities());
}

KernelCompilation::KernelCompilation(const Graph& graph, const LowerOptions& options,
                                     std::shared_ptr<const PreparedKernel> prepared, Device& device,
                                     const Compiler& compiler, TransformChooser& chooser)
    : capabilities_(chooser.seen(capabilities_of(device))),
      device_(device),
      compiler_(compiler),
      chooser_(chooser) {
  // A prepared kernel is reused only if the chooser does not change the capabilities.
  const bool is_seen = &*capabilities_ == &device.capabilities();
  kernel_ =
      prepared && is_seen
          ? std::move(prepared)
          : std::make_shared<const PreparedKernel>(compiler.prepare(graph, capabilities_, options));
}

LoweredKernel KernelCompilation::lower(size_t number) const {
  return compiler_.lower(*kernel_, capabilities_, chooser_, number);
}

CompiledKernel KernelCompilation::compile(LoweredKernel lowered) const {
  const auto compiled = [&](LoweredKernel kernel) {
    ExecutableRef executable = device_.compile(*kernel.program.get());
    return CompiledKernel{std::move(kernel), std::move(executable)};
  };
  CompiledKernel best = compiled(std::move(lowered));
  for (size_t step = 1; step <= kMostRetries && spills(best.executable->report); ++step) {
    const std::shared_ptr<TransformChooser> smaller = chooser_.with_smaller_tiles(name(), step);
    if (!smaller) break;
    try {
      CompiledKernel other = compiled(compiler_.lower(*kernel_, capabilities_, *smaller));
      const uint32_t before = best.executable->report.spills,
                     after = other.executable->report.spills;
      TN_LOG("plan", "{}: {} spills {} registers, with smaller tiles {}", device_.id(), name(),
             before, after);
      if (after < before) best = std::move(other);
    } catch (const Error& error) {
      TN_LOG("plan", "{}: {} with smaller tiles: {}", device_.id(), name(), error.what());
      break;
    }
  }
  return best;
}

}  // namespace tenon
