// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums that follow a maximum in two stages, where a device has more units than there are rows to
// give them: each part of the keys has a maximum and sums of its own, and what these count depends
// on how far the part's maximum is below that of all.
#pragma once

#include <optional>

#include "core/schedule/patterns/online_softmax.hpp"

namespace tenon::scheduling {

struct SplitKv {
  Graph graph;
  /// Of each chain the sum of the first stage, in the graph; null: left as it was.
  std::vector<NodeRef> sums;
};

/// The graph with such chains in parts; nothing where it has none. Where parts begin depends on
/// shapes and the device alone, so results have the same bits in every run.
std::optional<SplitKv> split_kv(const SchedulerInput& input,
                                const std::vector<OnlineSoftmax>& softmaxes, Builder& builder);

}  // namespace tenon::scheduling
