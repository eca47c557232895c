// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cache_reduction: caches the values of a reduction's steps that a later loop would recompute.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

struct CachedValues {
  /// Why nothing can be cached; both empty if something can.
  std::string expected, got;
  Statement* reduction = nullptr;
  /// The largest values that a step and the later loop have in common, as in the step.
  std::vector<KValueRef> values;
  /// For the values of the later loop that are cached: their index in `values`.
  std::unordered_map<const KValue*, size_t> uses;
};

/// Matches the only loop of a reduction with a loop that runs after the reduction in the same
/// loops. Valid until the kernel changes.
CachedValues find_cached(Kernel& kernel, int reduce_axis, int later_axis);

/// True if the loop stores values that depend on the axis to materialised elements that do not:
/// unrolled copies or lanes would overwrite each other's.
bool stores_dependent_value(Kernel& kernel, int axis);
/// True if the loop fills scratch of a thread for later loops: the axis is in the index of such a
/// store, or the loop has one iteration and loads outside of it read the buffer.
bool fills_scratch(Kernel& kernel, int axis);

}  // namespace tenon
