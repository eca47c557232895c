// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// State shared by the runs of a plan: cached layouts by symbol values.
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

  /// Sizes, arena offsets, kernels and grids for these values, cached.
  std::shared_ptr<Layout> layout(const SymbolValues& symbols);
  /// Computes the layout; true if kernels had to be compiled for it.
  bool compiles_for(const SymbolValues& symbols);

 private:
  const SchedulePlan& plan_;  ///< the owner
  std::mutex mutex_;
  std::vector<std::shared_ptr<Layout>> layouts_;  ///< the most recent first
};

}  // namespace tenon
