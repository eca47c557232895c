// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums that are scattered by few threads: what goes to one place goes there in the order of the
// index, so an index of one axis is one thread's. On GPUs parts of it go to copies of their own of
// what is scattered into, which are added up.
#pragma once

#include <optional>

#include "core/schedule/node_analysis.hpp"

namespace tenon::scheduling {

/// The graph with such scatters in parts; nothing where it has none. Where parts begin depends on
/// shapes and the device alone, so results have the same bits in every run.
std::optional<Graph> split_scatters(const SchedulerInput& input, Builder& builder);

}  // namespace tenon::scheduling
