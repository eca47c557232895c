// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums a contraction over the iterations of a loop, as dW = hᵀ·g. The factors of each iteration are
// saved, and one contraction after the loop sums over iterations too. Private to core/autodiff.
#pragma once

#include <vector>

#include "core/ir/build.hpp"
#include "core/support/flat_map.hpp"

namespace tenon::autodiff {

/// The factors of a contraction in one iteration, below its views, casts, products and sum. Empty
/// if it is not a sum of contractions.
std::vector<NodeRef> factors_of(const NodeRef& contraction);

/// The contraction summed over all iterations, from the stacked factors [trips, shape..].
NodeRef summed_over_trips(const NodeRef& contraction, const FlatMap<const Node*, NodeRef>& factors,
                          Builder& builder);

}  // namespace tenon::autodiff
