// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of scheduling, in order: assign devices, split, cut, group, emit, check.
#include "core/schedule/schedule.hpp"

#include <algorithm>

#include "core/schedule/assign_devices.hpp"
#include "core/schedule/cut.hpp"
#include "core/schedule/cut_order.hpp"
#include "core/schedule/emit.hpp"
#include "core/schedule/group.hpp"
#include "core/schedule/kernel_graph.hpp"
#include "core/schedule/limits.hpp"
#include "core/schedule/split_kv.hpp"
#include "core/schedule/split_reduction.hpp"
#include "core/schedule/split_scatter.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"

namespace tenon {

namespace {

using namespace scheduling;

/// Asks fuses_reductions whether a root and all nodes fused into it can be one kernel.
class KernelTrial {
 public:
  KernelTrial(const SchedulerInput& input, Builder& builder) : input_(input), builder_(builder) {}

  bool is_kernel(const Cut& kernels, int root, const std::vector<int>& fused_nodes,
                 const std::vector<int>& extra_outputs = {}) {
    for (const int i : fused_nodes)
      if (kernels.buffer_of[i] >= 0 && !std::ranges::count(extra_outputs, i)) return false;
    int params = 0;
    const auto name = [&](int) { return fmt::format("in{}", params++); };
    std::vector<int> roots{root};
    roots.insert(roots.end(), extra_outputs.begin(), extra_outputs.end());
    const KernelGraph kernel = kernel_graph(input_, kernels, roots, roots, name, builder_);
    if (params + static_cast<int>(roots.size()) > binding_limit(input_, root)) return false;
    return input_.options.fuses_reductions(kernel.graph,
                                           std::max(0, input_.device[static_cast<size_t>(root)]));
  }

 private:
  const SchedulerInput& input_;
  Builder& builder_;
};

/// True if an online softmax owns nodes that the group would recompute.
bool overlap(const std::vector<OnlineSoftmax>& softmaxes, const Rematerialised& group) {
  return std::ranges::any_of(softmaxes, [&](const OnlineSoftmax& softmax) {
    return !softmax.rematerialised && std::ranges::any_of(softmax.fused_nodes, [&](int i) {
      return std::ranges::count(group.roots, i) > 0 || std::ranges::count(group.fused_nodes, i) > 0;
    });
  });
}

/// Applies split_kv to the online softmaxes whose first stage can be one kernel.
std::optional<Graph> split_kv_of_kernels(const SchedulerInput& input, Builder& builder) {
  std::vector<OnlineSoftmax> softmaxes = find_online_softmax(input);
  while (!softmaxes.empty()) {
    const std::optional<SplitKv> parts = split_kv(input, softmaxes, builder);
    if (!parts) return std::nullopt;
    const SchedulerInput staged(parts->graph, input.options);
    const std::vector<OnlineSoftmax> first = find_online_softmax(staged);
    const Cut kernels = cut(staged, first);
    KernelTrial trial(staged, builder);
    const auto is_kernel = [&](const NodeRef& sum) {
      return std::ranges::any_of(first, [&](const OnlineSoftmax& softmax) {
        return staged.nodes[static_cast<size_t>(softmax.sum)] == sum &&
               trial.is_kernel(kernels, softmax.root, softmax.fused_nodes, softmax.extra_outputs);
      });
    };
    std::vector<OnlineSoftmax> left;
    for (size_t i = 0; i < softmaxes.size(); ++i)
      if (parts->sums[i] && is_kernel(parts->sums[i])) left.push_back(softmaxes[i]);
    if (left.size() + std::ranges::count(parts->sums, nullptr) == softmaxes.size())
      return parts->graph;
    softmaxes = std::move(left);
  }
  return std::nullopt;
}

/// Removes from the group what an online softmax computes.
void remove_computed(const std::vector<OnlineSoftmax>& softmaxes, Rematerialised& group) {
  const auto is_made = [&](int i) {
    return std::ranges::any_of(softmaxes, [&](const OnlineSoftmax& softmax) {
      return softmax.sum == i || std::ranges::count(softmax.fused_nodes, i) > 0;
    });
  };
  std::erase_if(group.roots, is_made);
  for (std::vector<int>& roots : group.fused_roots) std::erase_if(roots, is_made);
  std::erase_if(group.fused_roots, [](const std::vector<int>& roots) { return roots.size() < 2; });
}

/// Keeps one of the rematerialised softmaxes with the same maximum: it writes the row values.
std::vector<OnlineSoftmax> one_of_each_maximum(const std::vector<OnlineSoftmax>& softmaxes) {
  std::vector<OnlineSoftmax> out;
  for (const OnlineSoftmax& softmax : softmaxes)
    if (!softmax.rematerialised ||
        !std::ranges::count(out, softmax.maximum, &OnlineSoftmax::maximum))
      out.push_back(softmax);
  return out;
}

/// True if the softmax expects others to recompute its product, and no group does.
bool has_no_group(const OnlineSoftmax& softmax, const std::vector<Rematerialised>& groups) {
  return softmax.rematerialised && std::ranges::none_of(groups, [&](const Rematerialised& group) {
           return std::ranges::count(group.fused_nodes, softmax.product) > 0;
         });
}

bool is_feasible(const Rematerialised& group, const Cut& kernels, KernelTrial& trial) {
  return std::ranges::all_of(group.roots, [&](int root) {
    const auto fused_roots = std::ranges::find_if(
        group.fused_roots, [&](const auto& roots) { return std::ranges::count(roots, root) > 0; });
    if (fused_roots == group.fused_roots.end())
      return trial.is_kernel(kernels, root, group.fused_nodes);
    if (fused_roots->front() != root) return true;
    return trial.is_kernel(kernels, root, group.fused_nodes,
                           {fused_roots->begin() + 1, fused_roots->end()});
  });
}

/// `together`: online softmaxes may share rematerialised nodes with groups, and roots at the same
/// positions share a kernel; returns nothing if that cannot be. Else neither is shared.
std::optional<Cut> cut_with_softmax(const SchedulerInput& input, bool together,
                                    KernelTrial& trial) {
  std::vector<Rematerialised> found = find_rematerialised(input);
  std::vector<int> rematerialised;
  for (Rematerialised& group : found) {
    if (together)
      rematerialised.insert(rematerialised.end(), group.fused_nodes.begin(),
                            group.fused_nodes.end());
    if (!together) group.fused_roots.clear();
  }
  if (together && found.empty()) return std::nullopt;
  std::vector<OnlineSoftmax> found_softmaxes = find_online_softmax(input, rematerialised);
  for (;;) {
    const std::vector<OnlineSoftmax> softmaxes = one_of_each_maximum(found_softmaxes);
    std::vector<Rematerialised> groups = found;
    std::erase_if(groups, [&](const Rematerialised& group) { return overlap(softmaxes, group); });
    for (Rematerialised& group : groups) remove_computed(softmaxes, group);
    Cut kernels = cut(input, softmaxes, groups);
    const bool circular = is_circular(input, kernels);
    if (circular && together) return std::nullopt;
    std::vector<int> refused;
    for (const OnlineSoftmax& softmax : softmaxes)
      if ((circular && !softmax.extra_outputs.empty()) || has_no_group(softmax, groups) ||
          !trial.is_kernel(kernels, softmax.root, softmax.fused_nodes, softmax.extra_outputs))
        refused.push_back(softmax.root);
    std::erase_if(found_softmaxes, [&](const OnlineSoftmax& softmax) {
      return std::ranges::count(refused, softmax.root) > 0;
    });
    if (!refused.empty()) continue;
    std::erase_if(groups,
                  [&](const Rematerialised& group) { return is_feasible(group, kernels, trial); });
    if (groups.empty()) return kernels;
    if (together) return std::nullopt;
    std::erase_if(found, [&](const Rematerialised& group) {
      return std::ranges::count(groups, group.fused_nodes, &Rematerialised::fused_nodes) > 0;
    });
  }
}

Cut cut_with_softmax(const SchedulerInput& input, Builder& builder) {
  KernelTrial trial(input, builder);
  if (std::optional<Cut> kernels = cut_with_softmax(input, true, trial)) return std::move(*kernels);
  return std::move(*cut_with_softmax(input, false, trial));
}

Schedule schedule_nodes(const SchedulerInput& input, Builder& builder) {
  const Cut kernels = input.options.fuse && input.options.fuses_reductions
                          ? cut_with_softmax(input, builder)
                          : cut(input);
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
  Graph now = assign_devices(graph, options, builder, result_device);
  std::optional<SchedulerInput> input(std::in_place, now, options);
  const auto rewrite = [&](std::optional<Graph> changed) {
    if (!changed) return;
    input.reset();  // it refers to the old graph
    now = *std::move(changed);
    input.emplace(now, options);
  };
  if (options.fuse) {
    rewrite(split_scatters(*input, builder));
    if (options.fuses_reductions) rewrite(split_kv_of_kernels(*input, builder));
    rewrite(split_reductions(*input, builder));
  }
  return schedule_nodes(*input, builder);
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
