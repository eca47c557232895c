// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TENON_PROFILE=1: every kernel runs alone and is timed.
#include "core/runtime/kernel_times.hpp"
#include "core/runtime/run_plan.hpp"

namespace tenon {

void run_timed(const SchedulePlan& plan, const Layout& layout, const Frame& frame, size_t s,
               const SymbolValues& symbols, KernelTimes& times) {
  const Segment& segment = layout.segments[s];
  Device& device = plan.device(segment.device);
  for (int i = segment.first; i < segment.first + segment.count; ++i) {
    const auto step = static_cast<size_t>(i);
    if (frame.command_of[step] < 0) continue;
    const tn_command& command = frame.commands[s][static_cast<size_t>(frame.command_of[step])];
    if (const auto* kernel = std::get_if<KernelCall>(&plan.schedule().steps[step].call)) {
      const Device::AloneTime time =
          device.run_alone(command, std::span<Buffer* const>(frame.used));
      times.add({plan.schedule().name, layout.kernel(plan, step).name, device.id(),
                 work_of(*kernel, symbols), time.seconds, time.by_device});
    } else {
      device.submit({command}, std::span<Buffer* const>(frame.used));
    }
  }
}

}  // namespace tenon
