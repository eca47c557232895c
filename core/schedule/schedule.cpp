// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scheduling as a list: place, cut, group, emit, check.
#include "core/schedule/schedule.hpp"

#include "core/schedule/cut.hpp"
#include "core/schedule/emit.hpp"
#include "core/schedule/group.hpp"
#include "core/schedule/limits.hpp"
#include "core/schedule/place.hpp"
#include "core/support/log.hpp"

namespace tenon {

Schedule scheduling::schedule_region(const Graph& graph, const ScheduleOptions& options,
                                     Builder& builder, int result_device) {
  const Graph placed = place(graph, options, builder, result_device);
  const Work work(placed, options);
  const Cut kernels = cut(work);
  const Units units = group(work, kernels);
  Schedule out = emit(work, kernels, units, builder);
  check_limits(out, options);
  TN_LOG("schedule", "{}: {} nodes, {} cuts, {} steps", graph.name, work.nodes.size(),
         kernels.kernels.size(), out.steps.size());
  return out;
}

Schedule schedule(const Graph& graph, const ScheduleOptions& options, Builder& builder) {
  return scheduling::schedule_region(graph, options, builder, -1);
}

}  // namespace tenon
