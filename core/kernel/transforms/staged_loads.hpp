// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loads that a staged tile replaces: those of one buffer in a loop, at one of several indices.
#pragma once

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// Index, mask and fill are equal.
bool reads_same(const KValue& a, const KValue& b);

/// Calls `use` for each value computed in the loop of an axis, including the steps of a reduction
/// that the loop is part of.
void each_value_inside(Kernel& kernel, int axis, const std::function<void(KValueRef&)>& use);

/// One load for each distinct index, mask and fill with which the loop reads the buffer, in the
/// order of the statements. `stage bN.K` copies what the K-th reads.
std::vector<KValueRef> distinct_loads(Kernel& kernel, int axis, int buffer);

}  // namespace tenon
