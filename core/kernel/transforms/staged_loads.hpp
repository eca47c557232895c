// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loads that a tile at a loop stands for: of one buffer, read in one or several ways.
#pragma once

#include "core/kernel/tree/kernel.hpp"

namespace tenon {

/// Index, mask and fill are equal.
bool reads_same(const KValue& a, const KValue& b);

/// What is computed inside the loop of an axis: also the steps of a reduction that runs over it.
void each_value_inside(Kernel& kernel, int axis, const std::function<void(KValueRef&)>& use);

/// A load for each way in which the buffer is read inside the loop, in the order of the statements:
/// `stage bN.K` copies what the K-th of them reads.
std::vector<KValueRef> ways_to_read(Kernel& kernel, int axis, int buffer);

}  // namespace tenon
