// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cache_reduction: what a reduction computes for each element and a later loop would compute again.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

struct KeptValues {
  /// Why nothing can be kept; both empty if something can.
  std::string expected, got;
  Statement* reduction = nullptr;
  /// Largest values that a step of the reduction and the later loop share, as the step has them.
  std::vector<KValueRef> values;
  /// Number in `values` of each value of the later loop that is one of them.
  std::unordered_map<const KValue*, size_t> uses;
};

/// Of the only loop around the step of a reduction, and a loop that runs after that reduction in
/// each iteration of the loops around it. Valid until the kernel changes.
KeptValues find_kept(Kernel& kernel, int reduce_axis, int later_axis);

/// A loop below which a kept buffer is filled with values that depend on the axis, in elements that
/// do not: copies or lanes of the axis would share them.
bool keeps_apart(Kernel& kernel, int axis);
/// A loop whose axis says where in a kept buffer a value goes, or one of one iteration that fills
/// it for what stands outside.
bool fills_kept(Kernel& kernel, int axis);

}  // namespace tenon
