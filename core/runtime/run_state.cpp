// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/run_state.hpp"

#include <algorithm>

namespace tenon {
namespace {

constexpr size_t kMaxLayouts = 8;

}  // namespace

bool RunState::compiles_for(const SymbolValues& symbols) {
  const auto made = [&] {
    size_t count = 0;
    for (const StepPlan& step : plan_.steps())
      if (step.sized) count += step.sized->kernel->count();
    return count;
  };
  const size_t before = made();
  layout(symbols);
  return made() != before;
}

std::shared_ptr<Layout> RunState::layout(const SymbolValues& symbols) {
  {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find_if(
        layouts_, [&](const auto& layout) { return layout->symbols == symbols; });
    if (at != layouts_.end()) {
      std::rotate(layouts_.begin(), at, at + 1);
      return layouts_.front();
    }
  }
  auto layout = make_layout(plan_, symbols, plan_.alignment());
  const std::lock_guard lock(mutex_);
  layouts_.insert(layouts_.begin(), layout);
  if (layouts_.size() > kMaxLayouts) layouts_.pop_back();
  return layout;
}

}  // namespace tenon
