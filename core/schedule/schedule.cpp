// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scheduling as a list: place, parts, two stages, cut, group, emit, check.
#include "core/schedule/schedule.hpp"

#include <algorithm>
#include <map>

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

/// Asks those who make kernels whether one of a root and all that is inside can be made.
class KernelTrial {
 public:
  KernelTrial(const SchedulerInput& input, Builder& builder) : input_(input), builder_(builder) {}

  bool is_kernel(const Cut& kernels, int root, const std::vector<int>& inside,
                 const std::vector<int>& also = {}) {
    for (const int i : inside)
      if (kernels.buffer_of[i] >= 0 && !std::ranges::count(also, i)) return false;
    int params = 0;
    const auto name = [&](int) { return fmt::format("in{}", params++); };
    std::vector<int> roots{root};
    roots.insert(roots.end(), also.begin(), also.end());
    const KernelGraph kernel = kernel_graph(input_, kernels, roots, roots, name, builder_);
    return input_.options.fuses_reductions(kernel.graph,
                                           std::max(0, input_.device[static_cast<size_t>(root)]));
  }

 private:
  const SchedulerInput& input_;
  Builder& builder_;
};

/// Whether a chain has for itself what the group would compute.
bool overlap(const std::vector<OnlineSoftmax>& softmaxes, const Rematerialised& group) {
  return std::ranges::any_of(softmaxes, [&](const OnlineSoftmax& softmax) {
    return !softmax.again && std::ranges::any_of(softmax.inside, [&](int i) {
      return std::ranges::count(group.roots, i) > 0 || std::ranges::count(group.inside, i) > 0;
    });
  });
}

/// Chains in parts, if the first stage of each can be a kernel; else without that.
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
               trial.is_kernel(kernels, softmax.root, softmax.inside, softmax.also);
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

/// What chains make, others need not.
void take_out(const std::vector<OnlineSoftmax>& softmaxes, Rematerialised& group) {
  const auto is_made = [&](int i) {
    return std::ranges::any_of(softmaxes, [&](const OnlineSoftmax& softmax) {
      return softmax.sum == i || std::ranges::count(softmax.inside, i) > 0;
    });
  };
  std::erase_if(group.roots, is_made);
  for (std::vector<int>& roots : group.joined) std::erase_if(roots, is_made);
  std::erase_if(group.joined, [](const std::vector<int>& roots) { return roots.size() < 2; });
}

/// Of chains of one maximum, which others compute again, one gives it to these.
std::vector<OnlineSoftmax> one_of_each(const std::vector<OnlineSoftmax>& softmaxes) {
  std::vector<OnlineSoftmax> out;
  for (const OnlineSoftmax& softmax : softmaxes)
    if (!softmax.again || !std::ranges::count(out, softmax.maximum, &OnlineSoftmax::maximum))
      out.push_back(softmax);
  return out;
}

/// What others are to compute again, none does.
bool is_left_alone(const OnlineSoftmax& softmax, const std::vector<Rematerialised>& groups) {
  return softmax.again && std::ranges::none_of(groups, [&](const Rematerialised& group) {
           return std::ranges::count(group.inside, softmax.product) > 0;
         });
}

bool can_be_made(const Rematerialised& group, const Cut& kernels, KernelTrial& trial) {
  return std::ranges::all_of(group.roots, [&](int root) {
    const auto joined = std::ranges::find_if(
        group.joined, [&](const auto& roots) { return std::ranges::count(roots, root) > 0; });
    if (joined == group.joined.end()) return trial.is_kernel(kernels, root, group.inside);
    if (joined->front() != root) return true;
    return trial.is_kernel(kernels, root, group.inside, {joined->begin() + 1, joined->end()});
  });
}

/// `together`: what is computed again for several reductions is so for chains, too, and sums at the
/// same positions are one kernel; nothing if they cannot be. Else each is for itself.
std::optional<Cut> cut_with_softmax(const SchedulerInput& input, bool together,
                                    KernelTrial& trial) {
  std::vector<Rematerialised> found = find_rematerialised(input);
  std::vector<int> again;
  for (Rematerialised& group : found) {
    if (together) again.insert(again.end(), group.inside.begin(), group.inside.end());
    if (!together) group.joined.clear();
  }
  if (together && found.empty()) return std::nullopt;
  std::vector<OnlineSoftmax> found_softmaxes = find_online_softmax(input, again);
  for (;;) {
    const std::vector<OnlineSoftmax> softmaxes = one_of_each(found_softmaxes);
    std::vector<Rematerialised> groups = found;
    std::erase_if(groups, [&](const Rematerialised& group) { return overlap(softmaxes, group); });
    for (Rematerialised& group : groups) take_out(softmaxes, group);
    Cut kernels = cut(input, softmaxes, groups);
    const bool circular = is_circular(input, kernels);
    if (circular && together) return std::nullopt;
    std::vector<int> refused;
    for (const OnlineSoftmax& softmax : softmaxes)
      if ((circular && !softmax.also.empty()) || is_left_alone(softmax, groups) ||
          !trial.is_kernel(kernels, softmax.root, softmax.inside, softmax.also))
        refused.push_back(softmax.root);
    std::erase_if(found_softmaxes, [&](const OnlineSoftmax& softmax) {
      return std::ranges::count(refused, softmax.root) > 0;
    });
    if (!refused.empty()) continue;
    std::erase_if(groups,
                  [&](const Rematerialised& group) { return can_be_made(group, kernels, trial); });
    if (groups.empty()) return kernels;
    if (together) return std::nullopt;
    std::erase_if(found, [&](const Rematerialised& group) {
      return std::ranges::count(groups, group.inside, &Rematerialised::inside) > 0;
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
    input.reset();  // it is of the graph as it was
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
