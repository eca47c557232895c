// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scheduling as a list: place, two stages, cut, group, emit, check.
#include "core/schedule/schedule.hpp"

#include "core/schedule/assign_devices.hpp"
#include "core/schedule/cut.hpp"
#include "core/schedule/emit.hpp"
#include "core/schedule/group.hpp"
#include "core/schedule/limits.hpp"
#include "core/schedule/two_stages.hpp"
#include "core/support/log.hpp"

namespace tenon {

namespace {

using namespace scheduling;

Schedule schedule_nodes(const SchedulerInput& input, Builder& builder) {
  const Cut kernels = cut(input);
  const Units units = group(input, kernels);
  Schedule out = emit(input, kernels, units, builder);
  check_limits(out, input.options);
  TN_LOG("schedule", "{}: {} nodes, {} cuts, {} steps", input.graph.name, input.nodes.size(),
         kernels.kernels.size(), out.steps.size());
  return out;
}

}  // namespace

Schedule scheduling::schedule_region(const Graph& graph, const ScheduleOptions& options,
                                     Builder& builder, int result_device) {
  const Graph placed = place(graph, options, builder, result_device);
  const SchedulerInput input(placed, options);
  if (!options.fuse) return schedule_nodes(input, builder);
  if (const std::optional<Graph> staged = in_two_stages(input, builder))
    return schedule_nodes(SchedulerInput(*staged, options), builder);
  return schedule_nodes(input, builder);
}

Schedule schedule(const Graph& graph, const ScheduleOptions& options, Builder& builder) {
  return scheduling::schedule_region(graph, options, builder, -1);
}

void each_kernel(const Schedule& schedule,
                 const std::function<void(const KernelCall&, int device)>& use) {
  for (const Step& step : schedule.steps) {
    if (const auto* kernel = std::get_if<KernelCall>(&step.call)) {
      use(*kernel, step.device);
    } else if (const auto* branch = std::get_if<IfCall>(&step.call)) {
      each_kernel(*branch->then_schedule, use);
      each_kernel(*branch->else_schedule, use);
    } else if (const auto* loop = std::get_if<LoopCall>(&step.call)) {
      each_kernel(*loop->body, use);
    }
  }
}

}  // namespace tenon
