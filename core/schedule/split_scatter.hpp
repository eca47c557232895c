// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Split scatter: a scatter-add over one axis runs in one thread, as sums are added in the order of
// the index. On GPUs parts of the index scatter into private copies of the target, which are then
// added.
#pragma once

#include <optional>

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

/// The graph with such scatters split; nothing if it has none. The split depends on shapes and the
/// device alone, so results have the same bits in every run.
std::optional<Graph> split_scatters(const SchedulerInput& input, Builder& builder);

}  // namespace tenon::scheduling
