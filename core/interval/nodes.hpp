// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intervals of whole nodes: each function fills `range` and `doubt` of a result whose values are
// there already, and leaves both empty where every element is pinned. Private to the module.
#pragma once

#include <vector>

#include "core/interval/interval.hpp"
#include "core/interval/ops.hpp"
#include "core/reference/kernels.hpp"

namespace tenon::reference {

using IntervalOperands = std::vector<const IntervalArray*>;

/// Makes room for intervals, each the value's own.
void open(IntervalArray& array);
/// Drops intervals that say no more than the values do.
void settle(IntervalArray& array);

void elementwise_intervals(const Node& node, const IntervalOperands& operands,
                           const Profile& profile, IntervalArray& out);
void view_intervals(const Node& node, const IntervalArray& x, const SymbolValues& symbols,
                    IntervalArray& out);
void reduce_intervals(const Node& node, const IntervalArray& x, const Profile& profile,
                      IntervalArray& out);
/// What may stand in place of f32 factors that keep so many significant bits: either neighbour, and
/// infinity for what is cut upwards beyond the largest number.
IntervalArray cut_factors(const IntervalArray& x, int bits);
void take_intervals(const Node& node, const IntervalArray& x, const IntervalArray& index,
                    IntervalArray& out);
void store_intervals(const Node& node, const IntervalOperands& operands, const Profile& profile,
                     IntervalArray& out);

}  // namespace tenon::reference
