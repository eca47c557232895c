// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/plan.hpp"

#include <algorithm>

#include "core/runtime/run_state.hpp"
#include "core/schedule/uses.hpp"

namespace tenon {
namespace {

int64_t alignment_of(const DeviceList& devices) {
  int64_t out = 1;
  for (const auto& device : devices)
    out = std::max(out, static_cast<int64_t>(device->memory_alignment()));
  return out;
}

}  // namespace

SchedulePlan::SchedulePlan(Schedule schedule, std::vector<StepPlan> steps, DeviceList devices,
                           int programs)
    : schedule_(std::move(schedule)),
      steps_(std::move(steps)),
      devices_(std::move(devices)),
      programs_(programs),
      inputs_written_(scheduling::inputs_written(schedule_)),
      alignment_(alignment_of(devices_)),
      run_state_(std::make_unique<RunState>(*this)) {}

SchedulePlan::~SchedulePlan() = default;

}  // namespace tenon
