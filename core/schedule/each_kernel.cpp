// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/each_kernel.hpp"

namespace tenon {

void each_kernel(const Schedule& schedule,
                 const std::function<void(const KernelCall&, int device)>& use) {
  for (const Step& step : schedule.steps) {
    if (const auto* kernel = std::get_if<KernelCall>(&step.call)) {
      use(*kernel, step.device);
    } else if (const auto* branch = std::get_if<IfCall>(&step.call)) {
      each_kernel(*branch->then_schedule, use);
      each_kernel(*branch->else_schedule, use);
    } else if (const auto* loop = std::get_if<LoopCall>(&step.call)) {
      each_kernel(*loop->body, use);
    }
  }
}

}  // namespace tenon
