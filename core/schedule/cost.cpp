// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/cost.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace tenon::scheduling {
namespace {

// Costs are in additions an element. A round trip through memory costs about 32.
constexpr float kRoundTrip = 32;
constexpr float kBroadcastCost = 8;  // recomputed along a broadcast axis of the output
constexpr float kSharedCost = 4;     // recomputed by several kernels; on GPUs kRoundTrip
constexpr float kSharedPositionsCost = 16;
constexpr size_t kMostDemands = 8;
constexpr int kMostSharedViews = 16;
constexpr int kMostStagedViews = 32;
constexpr double kSlack = 1 + 1e-9;
constexpr double kColumnsOfUnit = 1024;  ///< that keep a multiprocessor busy
constexpr double kColumnsOfLanes = 16;
constexpr double kFewElements = 4096;  ///< a launch takes longer than these

int kernel_count(const std::vector<Demand>& demands) {
  int count = 0, last = -1;
  for (const Demand& d : demands) {
    count += d.kernel != last;
    last = d.kernel;
  }
  return count;
}

/// The variables up to the innermost of `some`.
uint64_t up_to(uint64_t variables, uint64_t some) {
  return some ? variables & ((uint64_t{2} << (63 - std::countl_zero(some))) - 1) : 0;
}

/// How often a kernel evaluates an elementwise node at `map`. Loops nest in the order of their
/// axes, those of `rows` first, so a value that depends on an inner axis is evaluated in every
/// iteration of the outer ones.
double evaluations(const CutKernel& k, const IndexMap& map, uint64_t rows) {
  uint64_t all = closure(k, map.variables());
  const uint64_t others = k.root_variables & ~rows;
  all |= all & others ? rows | up_to(others, all & others) : up_to(rows, all & rows);
  return product(k, all);
}

bool inside_reduction(const CutKernel& k, const IndexMap& map) {
  return map.variables() & ~k.root_variables;
}

bool inside_contraction(const CutKernel& k, const IndexMap& map) {
  for (uint64_t left = map.variables(); left; left &= left - 1)
    if (k.variables[std::countr_zero(left)].contraction) return true;
  return false;
}

/// Whether rows that lie across the outer axes are worth one kernel, whose threads or lanes take a
/// column each.
bool has_good_columns(const SchedulerInput& input, const CutKernel& k, int i, uint64_t row) {
  const Capabilities& capabilities = input.capabilities(i);
  if (product(k, k.root_variables) <= kFewElements) return true;
  if (capabilities.kind() == DeviceKind::kGpu)
    return product(k, row) >= kColumnsOfUnit * std::max(1u, capabilities.compute_units);
  return k.variables[63 - std::countl_zero(row)].size >= kColumnsOfLanes;
}

/// Whether an epilogue is one of a contraction, which is no part of a kernel of rows.
bool ends_contraction(const SchedulerInput& input, int i) {
  while (input.node(i).op != Op::REDUCE) {
    const auto below = std::ranges::find_if(
        input.sources[i], [&](int source) { return input.analysis[source].epilogue; });
    if (below == input.sources[i].end()) return true;  // more than a row needs
    i = *below;
  }
  return input.analysis[i].contraction;
}

/// The loop variables of the rows of a kernel's reductions; before it has one, those that a
/// function of a reduction's result depends on.
uint64_t rows_of(const SchedulerInput& input, const CutKernel& k, int i, const Demand& d) {
  if (k.reduces.any || k.reduces.contraction)
    return k.reduces.contraction ? 0 : k.reduces.row & k.root_variables;
  const uint64_t own = closure(k, d.map.variables());
  const bool is_row = input.analysis[i].epilogue && own != 0 && !(own & ~k.root_variables) &&
                      !ends_contraction(input, i);
  return is_row && up_to(k.root_variables, own) != own && has_good_columns(input, k, i, own) ? own
                                                                                             : 0;
}

bool may_inline_reduce(const SchedulerInput& input, const CutKernel& k, int i, const Demand& d) {
  const NodeAnalysis& analysis = input.analysis[i];
  if (d.map.gathers || inside_reduction(k, d.map)) return false;
  if (d.map.irregular && analysis.contraction) return false;  // its loops would need masks
  const uint64_t row = closure(k, d.map.variables());
  const double rows = product(k, row);
  if (rows > analysis.size * d.map.padded * kSlack) return false;
  const Node& node = input.node(i);
  double length = 1;
  for (int axis : node.as<ReduceAttr>().axes)
    length *= std::max(1.0, input.estimate.of(node.sources[0]->shape[axis]));
  // In the rows of a pad's fill the loop runs, too.
  if ((rows - analysis.size) * length > kRoundTrip * rows) return false;
  const ReduceClass here{true, analysis.contraction, row, rows, length};
  if (k.reduces.any || k.reduces.contraction) return !here.contraction && here == k.reduces;
  const bool whole = row == k.root_variables;
  if (whole || here.contraction) return whole;
  if (up_to(k.root_variables, row) != row && !has_good_columns(input, k, i, row)) return false;
  const double units = std::max(1u, input.capabilities(i).compute_units);
  return rows >= 2 * units || product(k, k.root_variables) <= kLongRow * rows;
}

bool may_share(const SchedulerInput& input, int i, const std::vector<Demand>& demands) {
  const NodeAnalysis& analysis = input.analysis[i];
  if (analysis.epilogue || demands.size() > kMostDemands) return false;
  if (!analysis.needs_buffer) return analysis.elementwise_cost <= kSharedPositionsCost;
  // On a GPU arithmetic is cheap compared with memory traffic.
  const bool gpu = input.capabilities(i).kind() == DeviceKind::kGpu;
  const float most = gpu ? kRoundTrip : kSharedCost;
  return analysis.leaves <= 1 && analysis.elementwise_cost <= most &&
         analysis.views <= kMostSharedViews;
}

bool may_inline_elementwise(const SchedulerInput& input, const CutKernel& k, int i,
                            std::span<const Demand> demands) {
  const NodeAnalysis& analysis = input.analysis[i];
  double total = 0, most = 0;
  bool in_reduction = false, in_contraction = false;
  for (const Demand& d : demands) {
    const double times = evaluations(k, d.map, rows_of(input, k, i, d));
    total += times;
    most = std::max(most, times);
    in_reduction |= inside_reduction(k, d.map);
    in_contraction |= inside_contraction(k, d.map) && times > analysis.size * kSlack;
  }
  const bool recomputed = total > analysis.size * kSlack;
  if (analysis.epilogue && (recomputed || in_reduction)) return false;
  if (!recomputed) return true;
  if (in_contraction)
    return analysis.trivial || (!analysis.needs_buffer && analysis.elementwise_cost <= kSharedCost);
  if (most > analysis.size * 1.5 && analysis.elementwise_cost > kBroadcastCost) return false;
  return static_cast<float>(demands.size() - 1) * analysis.elementwise_cost <= kRoundTrip;
}

/// A broadcast: its buffer would be larger than that of its source and no easier to read.
bool is_broadcast(const SchedulerInput& input, int i) {
  const Node& node = input.node(i);
  return node.op == Op::VIEW && node.as<ViewAttr>().kind == ViewKind::kExpand &&
         input.analysis[i].size > input.analysis[input.sources[i][0]].size;
}

/// A widening float cast, which is exact. On GPUs the narrow source is materialised instead: its
/// buffer is half as large, and matrix units load it.
bool is_widening(const SchedulerInput& input, int i) {
  const Node& node = input.node(i);
  if (node.op != Op::CAST || node.as<CastAttr>().bits) return false;
  const DType from = node.sources[0]->dtype;
  return is_float(node.dtype) && is_float(from) && dtype_size(from) < dtype_size(node.dtype) &&
         input.capabilities(i).kind() == DeviceKind::kGpu;
}

/// A widening cast times a constant.
bool is_scaled_widening(const SchedulerInput& input, int i) {
  const Node& node = input.node(i);
  if (node.op != Op::MUL) return false;
  const bool second = is_constant(*node.sources[1]);
  return (second || is_constant(*node.sources[0])) &&
         is_widening(input, input.sources[i][second ? 0 : 1]);
}

/// Views through which several kernels may read. GPUs and SIMD processors stage what windows read;
/// a buffer of all windows would be many times as large as what they view.
int most_shared_views(const SchedulerInput& input, int i) {
  const DeviceKind kind = input.capabilities(i).kind();
  int base = i;
  while (input.node(base).op == Op::VIEW) base = input.sources[base][0];
  const bool windows = input.analysis[i].size > 2 * input.analysis[base].size;
  const bool stages = kind == DeviceKind::kGpu || kind == DeviceKind::kSimd;
  return windows && stages ? kMostStagedViews : kMostSharedViews;
}

}  // namespace

uint64_t closure(const CutKernel& kernel, uint64_t variables) {
  uint64_t out = variables;
  for (uint64_t left = variables; left; left &= left - 1)
    out |= kernel.variables[std::countr_zero(left)].context;
  return out;
}

double product(const CutKernel& kernel, uint64_t variables) {
  double out = 1;
  for (uint64_t left = variables; left; left &= left - 1)
    out *= kernel.variables[std::countr_zero(left)].size;
  return out;
}

bool may_inline(const SchedulerInput& input, const std::vector<CutKernel>& kernels, int i,
                const std::vector<Demand>& demands) {
  const Node& node = input.node(i);
  const NodeAnalysis& analysis = input.analysis[i];
  if (node.op == Op::STORE || demands.size() > kMostKnownDemands) return false;
  for (const Demand& d : demands)
    if (input.device[kernels[d.kernel].root] != input.device[i] && input.device[i] >= 0)
      return false;
  if (is_broadcast(input, i) || analysis.is_prologue || is_widening(input, i)) return true;
  for (const Demand& d : demands)
    if (d.map.splits > kMostSplits || d.map.views > kMostViews) return false;
  // Matrix units load operands directly: a scaled factor of a contraction is materialised.
  const auto in_product = [&](const Demand& d) {
    return inside_contraction(kernels[static_cast<size_t>(d.kernel)], d.map);
  };
  if (is_scaled_widening(input, i) && std::ranges::none_of(demands, in_product)) return true;
  const bool several = kernel_count(demands) > 1;
  if (node.op == Op::VIEW) {
    return !several ||
           (analysis.views <= most_shared_views(input, i) && demands.size() <= kMostDemands * 2);
  }
  if (node.op == Op::REDUCE)
    return demands.size() == 1 &&
           may_inline_reduce(input, kernels[demands[0].kernel], i, demands[0]);
  if (several) {
    if (!may_share(input, i, demands)) return false;
  } else if (demands.size() > kMostDemands) {
    return false;
  }
  // Demands are sorted by kernel; every kernel must agree.
  for (size_t begin = 0; begin < demands.size();) {
    size_t end = begin;
    while (end < demands.size() && demands[end].kernel == demands[begin].kernel) ++end;
    const auto group = std::span(demands).subspan(begin, end - begin);
    if (!may_inline_elementwise(input, kernels[demands[begin].kernel], i, group)) return false;
    begin = end;
  }
  return true;
}

}  // namespace tenon::scheduling
