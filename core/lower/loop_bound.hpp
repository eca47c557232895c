// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The limit on a thread's loop iterations (Capabilities::max_loop_trips).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// Iterations that exceed the limit for large symbols.
struct LoopBound {
  Expr trips;
  uint32_t limit = 0;

  /// Throws kUnsupported if they do for these values.
  void check(const std::map<std::string, int64_t>& symbols) const;
};

/// The check before a launch; nothing if no size exceeds the limit. Throws kUnsupported if every
/// size does.
std::optional<LoopBound> loop_bound(const Kernel& kernel, const Capabilities& capabilities);

}  // namespace tenon
