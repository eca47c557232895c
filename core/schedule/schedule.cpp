// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scheduling as a list: place, two stages, cut, group, emit, check.
#include "core/schedule/schedule.hpp"

#include <algorithm>
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

/// Asks those who make kernels whether one of a root and all that is inside can be made.
class Asker {
 public:
  Asker(const SchedulerInput& input, Builder& builder) : input_(input), builder_(builder) {}

  bool is_kernel(const Cut& kernels, int root, const std::vector<int>& inside) {
    for (const int i : inside)
      if (kernels.buffer_of[i] >= 0) return false;
    int params = 0;
    const auto name = [&](int) { return fmt::format("in{}", params++); };
    const KernelGraph kernel = kernel_graph(input_, kernels, {root}, {root}, name, builder_);
    // Layers of a model have equal ones.
    const auto [found, is_new] = known_.try_emplace(kernel.graph.outputs[0].get());
    if (is_new) found->second = input_.options.chains(kernel.graph, input_.capabilities(root));
    return found->second;
  }

 private:
  const SchedulerInput& input_;
  Builder& builder_;
  std::map<const Node*, bool> known_;
};

bool meet(const std::vector<Chain>& chains, const Recomputed& group) {
  return std::ranges::any_of(chains, [&](const Chain& chain) {
    return std::ranges::any_of(chain.inside, [&](int i) {
      return std::ranges::count(group.roots, i) > 0 || std::ranges::count(group.inside, i) > 0;
    });
  });
}

Cut cut_with_chains(const SchedulerInput& input, Builder& builder) {
  Asker asker(input, builder);
  std::vector<Chain> chains = find_chains(input);
  Cut kernels = cut(input, chains);
  const size_t refused = std::erase_if(chains, [&](const Chain& chain) {
    return !asker.is_kernel(kernels, chain.root, chain.inside);
  });
  if (refused != 0) kernels = cut(input, chains);
  std::vector<Recomputed> groups = find_recomputed(input);
  std::erase_if(groups, [&](const Recomputed& group) { return meet(chains, group); });
  if (groups.empty()) return kernels;
  const Cut trial = cut(input, chains, groups);
  const size_t other = std::erase_if(groups, [&](const Recomputed& group) {
    return !std::ranges::all_of(
        group.roots, [&](int root) { return asker.is_kernel(trial, root, group.inside); });
  });
  return other == 0 ? trial : cut(input, chains, groups);
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
