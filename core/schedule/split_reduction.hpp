// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions with fewer results than the device has units, in two stages: blocks of each sum by
// themselves, each as a result of its own, then the sum of these.
#pragma once

#include <optional>

#include "core/schedule/cost.hpp"

namespace tenon::scheduling {

struct SplitSizes {
  double long_row = kLongRow;    ///< elements of a result that one unit takes alone
  double shortest_block = 1024;  ///< elements: less is not worth a result in memory
};

/// The graph with such reductions in two stages; nothing where it has none. Where blocks begin
/// depends on shapes and the device alone, so results have the same bits in every run.
std::optional<Graph> split_reductions(const SchedulerInput& input, Builder& builder,
                                      const SplitSizes& sizes = {});

}  // namespace tenon::scheduling
