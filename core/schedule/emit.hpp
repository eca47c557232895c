// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns ordered units into buffers and steps, and decides what is updated in place.
#pragma once

#include "core/schedule/cut.hpp"
#include "core/schedule/group.hpp"

namespace tenon::scheduling {

Schedule emit(const SchedulerInput& input, const Cut& cut, const Units& units, Builder& builder);

Shape without_ones(const Shape& shape);

/// Lets an output alias an input whose last use is that kernel: in elementwise kernels with one
/// output, a temporary input that is read only at the position written.
void reuse_in_place(Schedule& schedule, const std::vector<std::vector<bool>>& identity);

/// Schedules a region's graph with its outputs on `result_device`; its inputs stay on their
/// devices.
Schedule schedule_region(const Graph& graph, const ScheduleOptions& options, Builder& builder,
                         int result_device);

}  // namespace tenon::scheduling
