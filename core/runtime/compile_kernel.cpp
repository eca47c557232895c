// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/compile_kernel.hpp"

#include <memory>
#include <string>

#include "core/support/error.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

constexpr size_t kSteps = 2;              ///< that are tried
constexpr uint32_t kFewOfRegisters = 16;  ///< a spill in so many registers costs little

bool spills(const tn_compile_report& report) {
  return report.spills > report.registers / kFewOfRegisters;
}

}  // namespace

void compile_kernel(CompiledKernel& kernel, Device& device, const TransformChooser& chooser,
                    const std::function<LoweredKernel(TransformChooser&)>& lower) {
  kernel.executable = device.compile(*kernel.lowered.program.get());
  const std::string name(kernel.lowered.program.view().name());
  for (size_t step = 1; step <= kSteps && spills(kernel.executable->report); ++step) {
    const std::shared_ptr<TransformChooser> smaller = chooser.with_smaller_tiles(name, step);
    if (!smaller) return;
    try {
      CompiledKernel other{lower(*smaller), nullptr};
      other.executable = device.compile(*other.lowered.program.get());
      const uint32_t before = kernel.executable->report.spills,
                     after = other.executable->report.spills;
      TN_LOG("plan", "{}: {} spills {} registers, with smaller tiles {}", device.id(), name, before,
             after);
      if (after < before) kernel = std::move(other);
    } catch (const Error& error) {
      TN_LOG("plan", "{}: {} with smaller tiles: {}", device.id(), name, error.what());
      return;
    }
  }
}

}  // namespace tenon
