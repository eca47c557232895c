// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/cut_order.hpp"

#include <algorithm>
#include <functional>
#include <queue>

#include "core/schedule/contiguous_view.hpp"

namespace tenon::scheduling {
namespace {

std::vector<CutStep> steps_of(const SchedulerInput& input, const Cut& cut) {
  std::vector<CutStep> out;
  for (int k = 0; k < static_cast<int>(cut.kernels.size()); ++k) {
    const CutKernel& kernel = cut.kernels[k];
    int first = kernel.root;
    for (const int i : kernel.extra_outputs) first = std::min(first, i);
    out.push_back({first, k});
  }
  for (int i = 0; i < static_cast<int>(input.nodes.size()); ++i)
    if (is_command(input.node(i))) out.push_back({i, -1});
  return out;
}

std::vector<int> reads_of(const SchedulerInput& input, const Cut& cut, const CutStep& step) {
  std::vector<int> out;
  if (step.kernel >= 0) {
    for (const CutRead& read : cut.kernels[step.kernel].reads) out.push_back(read.node);
  } else if (input.node(step.node).op == Op::COPY) {
    out.push_back(copied_range(input, step.node).base);
  } else {
    out = input.sources[step.node];
  }
  for (int& node : out) node = cut.buffer_of[node];
  return out;
}

}  // namespace

std::vector<CutStep> in_order(const SchedulerInput& input, const Cut& cut) {
  const std::vector<CutStep> steps = steps_of(input, cut);
  std::vector<int> maker(input.nodes.size(), -1), waits(steps.size());
  for (int s = 0; s < static_cast<int>(steps.size()); ++s) {
    maker[steps[s].node] = s;
    if (steps[s].kernel < 0) continue;
    const CutKernel& kernel = cut.kernels[steps[s].kernel];
    maker[kernel.root] = s;
    for (const int i : kernel.extra_outputs) maker[i] = s;
  }
  std::vector<std::vector<int>> readers(steps.size());
  for (int s = 0; s < static_cast<int>(steps.size()); ++s)
    for (const int node : reads_of(input, cut, steps[s]))
      if (node >= 0 && maker[node] >= 0) {
        readers[maker[node]].push_back(s);
        ++waits[s];
      }
  using Entry = std::pair<int, int>;  // node, step
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (int s = 0; s < static_cast<int>(steps.size()); ++s)
    if (waits[s] == 0) ready.emplace(steps[s].node, s);
  std::vector<CutStep> out;
  while (!ready.empty()) {
    const int s = ready.top().second;
    ready.pop();
    out.push_back(steps[s]);
    for (const int r : readers[s])
      if (--waits[r] == 0) ready.emplace(steps[r].node, r);
  }
  return out;
}

bool is_circular(const SchedulerInput& input, const Cut& cut) {
  return in_order(input, cut).size() < steps_of(input, cut).size();
}

}  // namespace tenon::scheduling
