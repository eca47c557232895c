// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs of a plan keep for one another: layouts for the symbol values that were met.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/runtime/layout.hpp"

namespace tenon {

/// Thread-safe.
class RunState {
 public:
  explicit RunState(const SchedulePlan& plan) : plan_(plan) {}

  /// Sizes, arena offsets, kernels and their grids for these values; computed once for each.
  std::shared_ptr<Layout> layout(const SymbolValues& symbols);
  /// The same, and whether kernels had to be made for them.
  bool compiles_for(const SymbolValues& symbols);

 private:
  const SchedulePlan& plan_;  ///< that this is part of
  std::mutex mutex_;
  std::vector<std::shared_ptr<Layout>> layouts_;  ///< the most recent first
};

}  // namespace tenon
