// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns ordered units into buffers and steps; decides what is updated in place.
#pragma once

#include "core/schedule/cut.hpp"
#include "core/schedule/group.hpp"

namespace tenon::scheduling {

Schedule emit(const SchedulerInput& input, const Cut& cut, const Units& units, Builder& builder);

Shape without_ones(const Shape& shape);

/// Outputs take the place of inputs that end there: single-output elementwise kernels whose
/// temporary input is read at the position that is written, and never again.
void reuse_in_place(Schedule& schedule, const std::vector<std::vector<bool>>& identity);

/// The graph of a region, scheduled with its inputs where they are and its outputs on one device.
Schedule schedule_region(const Graph& graph, const ScheduleOptions& options, Builder& builder,
                         int result_device);

}  // namespace tenon::scheduling
