// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/long_sums.hpp"

#include <algorithm>

#include "core/schedule/axis_map.hpp"

namespace tenon::scheduling {
namespace {

constexpr double kBlock = 512;     // terms: their lines of the rows stay in a private cache
constexpr double kMostBlocks = 8;  // each is a whole result in memory

/// What a factor is a view of, and which axes of the product move its last axis.
struct Factor {
  double size = 1;
  uint64_t last = 0;
};

Factor factor_of(const SchedulerInput& input, int i) {
  IndexMap map;
  for (size_t axis = 0; axis < input.node(i).shape.size(); ++axis)
    map.axes.push_back({uint64_t{1} << axis, axis + 1});
  while (input.node(i).op == Op::VIEW || input.node(i).op == Op::CAST) {
    if (input.node(i).op == Op::VIEW) map = through_view(input.node(i), map, input.estimate);
    i = input.sources[i][0];
  }
  size_t last = map.axes.size();
  while (last > 0 && input.node(i).shape[last - 1].is_const(1)) --last;
  return {input.analysis[i].size, last > 0 ? map.axes[last - 1].variables : 0};
}

}  // namespace

double blocks_of_long_sum(const SchedulerInput& input, int i) {
  const Capabilities& caps = input.capabilities(i);
  // Devices with workgroups go over tiles of the operands in shared memory, block by block.
  if (!input.analysis[i].contraction || caps.max_workgroup_threads > 1 || caps.vector_bytes <= 1)
    return 1;
  uint64_t summed = 0;
  double length = 1;
  for (const int axis : input.node(i).as<ReduceAttr>().axes) {
    summed |= uint64_t{1} << axis;
    length *= input.estimate.of(input.node(i).sources[0]->shape[axis]);
  }
  if (length < 2 * kBlock) return 1;
  int product = input.sources[i][0];
  while (input.node(product).op == Op::CAST) product = input.sources[product][0];
  double operands = 0;
  for (const int s : input.sources[product]) {
    const Factor factor = factor_of(input, s);
    // Terms that follow one another in memory come with one line, and ahead of time.
    if (factor.last & summed) return 1;
    operands += factor.size;
  }
  // Between the stages goes no more through memory than the operands are.
  return std::min({length / kBlock, kMostBlocks, operands / input.analysis[i].size});
}

}  // namespace tenon::scheduling
