// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scheduling as a list: place, two stages, cut, group, emit, check.
#include "core/schedule/schedule.hpp"

#include <map>

#include "core/schedule/assign_devices.hpp"
#include "core/schedule/cut.hpp"
#include "core/schedule/emit.hpp"
#include "core/schedule/group.hpp"
#include "core/schedule/kernel_graph.hpp"
#include "core/schedule/limits.hpp"
#include "core/schedule/two_stages.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"

namespace tenon {

namespace {

using namespace scheduling;

/// Whether the kernel of a chain is all of it, and can be made.
bool is_kernel(const SchedulerInput& input, const Cut& kernels, const Chain& chain,
               Builder& builder, std::map<const Node*, bool>& known) {
  for (const int i : chain.inside)
    if (kernels.buffer_of[i] >= 0) return false;
  int params = 0;
  const auto name = [&](int) { return fmt::format("in{}", params++); };
  const KernelGraph kernel =
      kernel_graph(input, kernels, {chain.root}, {chain.root}, name, builder);
  // Layers of a model have equal ones.
  const auto [found, is_new] = known.try_emplace(kernel.graph.outputs[0].get());
  if (is_new) found->second = input.options.chains(kernel.graph, input.capabilities(chain.root));
  return found->second;
}

Cut cut_with_chains(const SchedulerInput& input, Builder& builder) {
  std::vector<Chain> chains = find_chains(input);
  Cut kernels = cut(input, chains);
  std::map<const Node*, bool> known;
  const size_t refused = std::erase_if(chains, [&](const Chain& chain) {
    return !is_kernel(input, kernels, chain, builder, known);
  });
  return refused == 0 ? kernels : cut(input, chains);
}

Schedule schedule_nodes(const SchedulerInput& input, Builder& builder) {
  const Cut kernels =
      input.options.fuse && input.options.chains ? cut_with_chains(input, builder) : cut(input);
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
