// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sum over the trips of a loop of what is a contraction in each, as dW = hᵀ·g: its factors are
// kept by trip, and one contraction after the loop sums over trips too. Private to core/autodiff.
#pragma once

#include <vector>

#include "core/ir/build.hpp"
#include "core/support/flat_map.hpp"

namespace tenon::autodiff {

/// What a contraction of a trip is made of by views, casts, products and one sum; nothing for what
/// is no sum of contractions.
std::vector<NodeRef> factors_of(const NodeRef& contraction);

/// Its sum over all trips, from its factors of each: [trips, shape..].
NodeRef summed_over_trips(const NodeRef& contraction, const FlatMap<const Node*, NodeRef>& factors,
                          Builder& builder);

}  // namespace tenon::autodiff
