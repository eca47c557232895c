// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Split-KV (flash decoding): online softmax in two stages, for devices with more compute units than
// there are rows. Each part of the keys has its own maximum and sums; the second stage rescales the
// sums by exp(maximum of the part - maximum of all) and adds them.
#pragma once

#include <optional>

#include "core/schedule/patterns/online_softmax.hpp"

namespace tenon::scheduling {

struct SplitKv {
  Graph graph;
  /// For each online softmax the first-stage sum in the graph; null if it was not split.
  std::vector<NodeRef> sums;
};

/// The graph with split online softmaxes; nothing if none is split. The split depends on shapes and
/// the device alone, so results have the same bits in every run.
std::optional<SplitKv> split_kv(const SchedulerInput& input,
                                const std::vector<OnlineSoftmax>& softmaxes, Builder& builder);

}  // namespace tenon::scheduling
