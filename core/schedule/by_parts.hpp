// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums that follow a maximum in two stages, where a device has more units than there are rows to
// give them: each part of the keys has a maximum and sums of its own, and what these count depends
// on how far the part's maximum is below that of all.
#pragma once

#include <optional>

#include "core/schedule/chained.hpp"

namespace tenon::scheduling {

struct ByParts {
  Graph graph;
  /// Of each chain the sum of the first stage, in the graph; null: left as it was.
  std::vector<NodeRef> sums;
};

/// The graph with such chains in parts; nothing where it has none. Where parts begin depends on
/// shapes and the device alone, so results have the same bits in every run.
std::optional<ByParts> by_parts(const SchedulerInput& input, const std::vector<Chain>& chains,
                                Builder& builder);

}  // namespace tenon::scheduling
