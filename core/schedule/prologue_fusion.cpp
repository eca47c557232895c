// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/prologue_fusion.hpp"

#include "core/schedule/patterns/contraction.hpp"

namespace tenon::scheduling {
namespace {

constexpr double kTimesSmaller = 2;  // bytes of the factor to bytes that it is computed from
// Additions an element: about the cost of a round trip through memory.
constexpr float kMostPrologueCost = 32;

bool keeps_tiles(const Capabilities& caps) {
  if (caps.has_threads()) return caps.has(Op::BARRIER) && caps.max_shared_bytes > 0;
  return caps.kind() == DeviceKind::kSimd;
}

bool is_view_or_elementwise(const Node& node) {
  return node.op == Op::VIEW || is_elementwise(node.op);
}

/// It reads much less than it makes, and is cheap.
bool is_prologue(const SchedulerInput& input, int i) {
  const Node& node = input.node(i);
  const NodeAnalysis& analysis = input.analysis[i];
  const double bytes = analysis.size * static_cast<double>(dtype_size(node.dtype));
  return is_elementwise(node.op) && !analysis.trivial && analysis.needs_buffer &&
         !analysis.epilogue && analysis.elementwise_cost <= kMostPrologueCost &&
         analysis.read * kTimesSmaller <= bytes;
}

void mark(SchedulerInput& input, int root) {
  std::vector<int> work{root};
  while (!work.empty()) {
    const int i = work.back();
    work.pop_back();
    if (input.analysis[i].is_prologue || !is_view_or_elementwise(input.node(i))) continue;
    input.analysis[i].is_prologue = true;
    work.insert(work.end(), input.sources[i].begin(), input.sources[i].end());
  }
}

}  // namespace

void mark_prologues(SchedulerInput& input) {
  for (int i = 0; i < static_cast<int>(input.nodes.size()); ++i) {
    if (!input.analysis[i].contraction || !keeps_tiles(input.capabilities(i))) continue;
    for (const NodeRef& source : product_of(input.node(i))->sources) {
      const int factor = input.index.at(&strip_casts_and_views(*source));
      if (is_prologue(input, factor)) mark(input, factor);
    }
  }
}

}  // namespace tenon::scheduling
