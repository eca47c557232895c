// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/plan.hpp"

#include <algorithm>

#include "core/runtime/layout.hpp"
#include "core/schedule/uses.hpp"

namespace tenon {
namespace {

constexpr size_t kLayoutsKept = 8;

}  // namespace

SchedulePlan::SchedulePlan(Schedule schedule, std::vector<StepPlan> steps, DeviceList devices,
                           int programs)
    : schedule_(std::move(schedule)),
      steps_(std::move(steps)),
      devices_(std::move(devices)),
      programs_(programs),
      inputs_written_(scheduling::inputs_written(schedule_)) {
  for (const auto& device : devices_)
    alignment_ = std::max(alignment_, static_cast<int64_t>(device->memory_alignment()));
}

bool SchedulePlan::compiles_for(const SymbolValues& symbols) const {
  const auto made = [&] {
    size_t count = 0;
    for (const StepPlan& step : steps_)
      if (step.sized) count += step.sized->kernel->count();
    return count;
  };
  const size_t before = made();
  layout(symbols);
  return made() != before;
}

std::shared_ptr<Layout> SchedulePlan::layout(const SymbolValues& symbols) const {
  {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find_if(
        layouts_, [&](const auto& layout) { return layout->symbols == symbols; });
    if (at != layouts_.end()) {
      std::rotate(layouts_.begin(), at, at + 1);
      return layouts_.front();
    }
  }
  auto layout = make_layout(*this, symbols, alignment_);
  const std::lock_guard lock(mutex_);
  layouts_.insert(layouts_.begin(), layout);
  if (layouts_.size() > kLayoutsKept) layouts_.pop_back();
  return layout;
}

}  // namespace tenon
