// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intervals of nodes: each function sets `range` and `doubt` of a result that has its values, or
// leaves them empty if all elements are exact. Private to the module.
#pragma once

#include <vector>

#include "core/interval/interval.hpp"
#include "core/interval/ops.hpp"
#include "core/reference/kernels.hpp"

namespace tenon::reference {

using IntervalOperands = std::vector<const IntervalArray*>;

/// Allocates intervals, each a point at the value.
void open(IntervalArray& array);
/// Drops intervals if all are points at their values.
void settle(IntervalArray& array);

void elementwise_intervals(const Node& node, const IntervalOperands& operands,
                           const Profile& profile, IntervalArray& out);
void view_intervals(const Node& node, const IntervalArray& x, const SymbolValues& symbols,
                    IntervalArray& out);
void reduce_intervals(const Node& node, const IntervalArray& x, const Profile& profile,
                      IntervalArray& out);
/// Ranges of f32 factors truncated to `bits` significant bits: both neighbours, and infinity above
/// the largest number.
IntervalArray cut_factors(const IntervalArray& x, int bits);
void take_intervals(const Node& node, const IntervalArray& x, const IntervalArray& index,
                    IntervalArray& out);
void store_intervals(const Node& node, const IntervalOperands& operands, const Profile& profile,
                     IntervalArray& out);

}  // namespace tenon::reference
