// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Split reduction (split-K): a reduction with fewer results than the device has compute units runs
// in two stages. The first reduces blocks of each result, the second combines them.
#pragma once

#include <optional>

#include "core/schedule/cost.hpp"

namespace tenon::scheduling {

struct SplitSizes {
  double long_row = kLongRow;    ///< elements a result that one unit reduces alone
  double shortest_block = 1024;  ///< elements: less is not worth a result in memory
};

/// The graph with such reductions in two stages; nothing if it has none. The split depends on
/// shapes and the device alone, so results have the same bits in every run.
std::optional<Graph> split_reductions(const SchedulerInput& input, Builder& builder,
                                      const SplitSizes& sizes = {});

}  // namespace tenon::scheduling
