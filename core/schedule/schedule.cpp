// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scheduling as a list: place, parts, two stages, cut, group, emit, check.
#include "core/schedule/schedule.hpp"

#include <algorithm>
#include <map>

#include "core/schedule/assign_devices.hpp"
#include "core/schedule/by_parts.hpp"
#include "core/schedule/cut.hpp"
#include "core/schedule/cut_order.hpp"
#include "core/schedule/emit.hpp"
#include "core/schedule/group.hpp"
#include "core/schedule/kernel_graph.hpp"
#include "core/schedule/limits.hpp"
#include "core/schedule/scatter_in_parts.hpp"
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

  bool is_kernel(const Cut& kernels, int root, const std::vector<int>& inside,
                 const std::vector<int>& also = {}) {
    for (const int i : inside)
      if (kernels.buffer_of[i] >= 0 && !std::ranges::count(also, i)) return false;
    int params = 0;
    const auto name = [&](int) { return fmt::format("in{}", params++); };
    std::vector<int> roots{root};
    roots.insert(roots.end(), also.begin(), also.end());
    const KernelGraph kernel = kernel_graph(input_, kernels, roots, roots, name, builder_);
    // Layers of a model have equal ones.
    const auto [found, is_new] = known_.try_emplace(kernel.graph.outputs);
    if (is_new) found->second = input_.options.chains(kernel.graph, input_.capabilities(root));
    return found->second;
  }

 private:
  const SchedulerInput& input_;
  Builder& builder_;
  std::map<std::vector<NodeRef>, bool> known_;  ///< by outputs
};

/// Whether a chain has for itself what the group would compute.
bool meet(const std::vector<Chain>& chains, const Recomputed& group) {
  return std::ranges::any_of(chains, [&](const Chain& chain) {
    return !chain.again && std::ranges::any_of(chain.inside, [&](int i) {
      return std::ranges::count(group.roots, i) > 0 || std::ranges::count(group.inside, i) > 0;
    });
  });
}

/// Chains in parts, if the first stage of each can be a kernel; else without that.
std::optional<Graph> chains_by_parts(const SchedulerInput& input, Builder& builder) {
  std::vector<Chain> chains = find_chains(input);
  while (!chains.empty()) {
    const std::optional<ByParts> parts = by_parts(input, chains, builder);
    if (!parts) return std::nullopt;
    const SchedulerInput staged(parts->graph, input.options);
    const std::vector<Chain> first = find_chains(staged);
    const Cut kernels = cut(staged, first);
    Asker asker(staged, builder);
    const auto is_kernel = [&](const NodeRef& sum) {
      return std::ranges::any_of(first, [&](const Chain& chain) {
        return staged.nodes[static_cast<size_t>(chain.sum)] == sum &&
               asker.is_kernel(kernels, chain.root, chain.inside, chain.also);
      });
    };
    std::vector<Chain> left;
    for (size_t i = 0; i < chains.size(); ++i)
      if (parts->sums[i] && is_kernel(parts->sums[i])) left.push_back(chains[i]);
    if (left.size() + std::ranges::count(parts->sums, nullptr) == chains.size())
      return parts->graph;
    chains = std::move(left);
  }
  return std::nullopt;
}

/// What chains make, others need not.
void take_out(const std::vector<Chain>& chains, Recomputed& group) {
  const auto is_made = [&](int i) {
    return std::ranges::any_of(chains, [&](const Chain& chain) {
      return chain.sum == i || std::ranges::count(chain.inside, i) > 0;
    });
  };
  std::erase_if(group.roots, is_made);
  for (std::vector<int>& roots : group.joined) std::erase_if(roots, is_made);
  std::erase_if(group.joined, [](const std::vector<int>& roots) { return roots.size() < 2; });
}

/// Of chains of one maximum, which others compute again, one gives it to these.
std::vector<Chain> one_of_each(const std::vector<Chain>& chains) {
  std::vector<Chain> out;
  for (const Chain& chain : chains)
    if (!chain.again || !std::ranges::count(out, chain.maximum, &Chain::maximum))
      out.push_back(chain);
  return out;
}

/// What others are to compute again, none does.
bool is_left_alone(const Chain& chain, const std::vector<Recomputed>& groups) {
  return chain.again && std::ranges::none_of(groups, [&](const Recomputed& group) {
           return std::ranges::count(group.inside, chain.product) > 0;
         });
}

bool can_be_made(const Recomputed& group, const Cut& kernels, Asker& asker) {
  return std::ranges::all_of(group.roots, [&](int root) {
    const auto joined = std::ranges::find_if(
        group.joined, [&](const auto& roots) { return std::ranges::count(roots, root) > 0; });
    if (joined == group.joined.end()) return asker.is_kernel(kernels, root, group.inside);
    if (joined->front() != root) return true;
    return asker.is_kernel(kernels, root, group.inside, {joined->begin() + 1, joined->end()});
  });
}

/// `together`: what is computed again for several reductions is so for chains, too, and sums at the
/// same positions are one kernel; nothing if they cannot be. Else each is for itself.
std::optional<Cut> cut_with_chains(const SchedulerInput& input, bool together, Asker& asker) {
  std::vector<Recomputed> found = find_recomputed(input);
  std::vector<int> again;
  for (Recomputed& group : found) {
    if (together) again.insert(again.end(), group.inside.begin(), group.inside.end());
    if (!together) group.joined.clear();
  }
  if (together && found.empty()) return std::nullopt;
  std::vector<Chain> found_chains = find_chains(input, again);
  for (;;) {
    const std::vector<Chain> chains = one_of_each(found_chains);
    std::vector<Recomputed> groups = found;
    std::erase_if(groups, [&](const Recomputed& group) { return meet(chains, group); });
    for (Recomputed& group : groups) take_out(chains, group);
    Cut kernels = cut(input, chains, groups);
    const bool circular = is_circular(input, kernels);
    if (circular && together) return std::nullopt;
    std::vector<int> refused;
    for (const Chain& chain : chains)
      if ((circular && !chain.also.empty()) || is_left_alone(chain, groups) ||
          !asker.is_kernel(kernels, chain.root, chain.inside, chain.also))
        refused.push_back(chain.root);
    std::erase_if(found_chains,
                  [&](const Chain& chain) { return std::ranges::count(refused, chain.root) > 0; });
    if (!refused.empty()) continue;
    std::erase_if(groups,
                  [&](const Recomputed& group) { return can_be_made(group, kernels, asker); });
    if (groups.empty()) return kernels;
    if (together) return std::nullopt;
    std::erase_if(found, [&](const Recomputed& group) {
      return std::ranges::count(groups, group.inside, &Recomputed::inside) > 0;
    });
  }
}

Cut cut_with_chains(const SchedulerInput& input, Builder& builder) {
  Asker asker(input, builder);
  if (std::optional<Cut> kernels = cut_with_chains(input, true, asker)) return std::move(*kernels);
  return std::move(*cut_with_chains(input, false, asker));
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
  Graph now = place(graph, options, builder, result_device);
  std::optional<SchedulerInput> input(std::in_place, now, options);
  const auto rewrite = [&](std::optional<Graph> changed) {
    if (!changed) return;
    input.reset();  // it is of the graph as it was
    now = *std::move(changed);
    input.emplace(now, options);
  };
  if (options.fuse) {
    rewrite(scatters_in_parts(*input, builder));
    if (options.chains) rewrite(chains_by_parts(*input, builder));
    rewrite(in_two_stages(*input, builder));
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
