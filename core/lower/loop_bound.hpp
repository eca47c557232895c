// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a device says of the loops of a thread (Capabilities::max_loop_trips).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// Iterations that large symbols take beyond the limit.
struct LoopBound {
  Expr trips;
  uint32_t limit = 0;

  /// Throws kUnsupported if these values do.
  void check(const std::map<std::string, int64_t>& symbols) const;
};

/// What a launch must check; nothing where no size exceeds the limit, or there is none. Throws
/// kUnsupported where every size does.
std::optional<LoopBound> loop_bound(const Kernel& kernel, const Capabilities& capabilities);

}  // namespace tenon
