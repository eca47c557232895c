// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/split_reduction.hpp"

#include <algorithm>
#include <cmath>

#include "core/ir/scalar_op.hpp"
#include "core/schedule/patterns/contraction.hpp"
#include "core/schedule/patterns/rematerialised.hpp"

namespace tenon::scheduling {
namespace {

constexpr double kBlocksPerUnit = 8;  // so that all units finish at about the same time
constexpr double kTile = 512;         // results of a contraction that one unit computes together
// At most so many times the wanted blocks, to find a divisor. Fewer for a contraction, as each
// block is a whole result in memory.
constexpr int64_t kMoreBlocks = 8;
constexpr int64_t kMoreOfContraction = 2;

// Contractions of GPUs with operands in shared memory: rows and columns of a workgroup's tile,
// workgroups a unit, and the fewest terms that are worth a tile of results in memory.
constexpr double kWideTile = 128, kThinTile = 64;
constexpr double kFewestRows = 4, kFewestColumns = 32;
constexpr double kGroupsPerUnit = 4, kThinGroupsPerUnit = 2;
constexpr double kShortestOfTiles = 2048;

/// Axes that the first stage does not reduce: whole ones, and the blocks of one that is split.
struct Blocks {
  std::vector<int> whole;
  int cut = -1;
  int64_t count = 1, length = 1;  ///< of the axis that is split
};

/// Terms a result.
double length_of_sum(const SchedulerInput& input, int i) {
  double length = 1;
  for (const int axis : input.node(i).as<ReduceAttr>().axes)
    length *= input.estimate.of(input.node(i).sources[0]->shape[axis]);
  return length;
}

/// Fewest blocks for a driver that ends long loops; 1: no split. One thread may have to take a
/// whole block, so a block is at most a quarter of the limit: the rest is for the kernel's other
/// loops.
double blocks_needed(const SchedulerInput& input, int i) {
  const double limit = input.capabilities(i).max_loop_trips;
  return limit == 0 ? 1 : std::ceil(4 * length_of_sum(input, i) / limit);
}

/// Blocks of a contraction that a GPU computes in tiles: as many as keep all units busy with wide
/// tiles. Nothing for other reductions.
std::optional<double> blocks_of_tiles(const SchedulerInput& input, int i, double units) {
  const Capabilities& caps = input.capabilities(i);
  if (!input.analysis[i].contraction || caps.kind() != DeviceKind::kGpu ||
      caps.max_workgroup_threads < 256)
    return std::nullopt;
  const auto results = product_sizes(input.node(i), input.estimate);
  if (!results) return std::nullopt;
  const auto [fewer, more] = std::minmax({results->rows, results->columns});
  if (fewer < kFewestRows || more < kFewestColumns) return std::nullopt;
  const bool thin = fewer <= kThinTile;
  const double tiles = results->tiles(thin ? kThinTile : kWideTile);
  if (tiles >= units) return 1;
  const double groups = (thin ? kThinGroupsPerUnit : kGroupsPerUnit) * units;
  double most = length_of_sum(input, i) / kShortestOfTiles;
  if (caps.max_buffer_bytes != 0) {  // which holds the first-stage sums of all blocks
    constexpr double kWidest = 8;    // bytes of one
    const double bytes = kWidest * input.analysis[i].size * kMoreOfContraction;
    most = std::min(most, static_cast<double>(caps.max_buffer_bytes) / bytes);
  }
  return std::clamp(std::ceil(groups / tiles), 1.0, std::max(1.0, most));
}

/// Blocks that are best for speed; 1: no split.
double blocks_wanted(const SchedulerInput& input, int i, const SplitSizes& sizes) {
  const NodeAnalysis& analysis = input.analysis[i];
  const double units = std::max(1U, input.capabilities(i).compute_units);
  if (const std::optional<double> tiles = blocks_of_tiles(input, i, units)) return *tiles;
  const double length = length_of_sum(input, i);
  const double workers = std::ceil(analysis.contraction ? analysis.size / kTile : analysis.size);
  if (units < 2 || workers >= 2 * units || length <= sizes.long_row) return 1;
  return std::min(std::ceil(kBlocksPerUnit * units / workers), length / sizes.shortest_block);
}

/// The smallest divisor of n in [wanted, wanted * times]; 0 if there is none.
int64_t divisor(int64_t n, int64_t wanted, int64_t times) {
  for (int64_t d = wanted; d <= std::min(n, wanted * times); ++d)
    if (n % d == 0) return d;
  return 0;
}

/// Splits from the outermost axis on, so that a block is contiguous in memory.
std::optional<Blocks> cut_in_blocks(const SchedulerInput& input, int i, const SplitSizes& sizes) {
  const double needed = blocks_needed(input, i);
  double wanted = std::max(needed, blocks_wanted(input, i, sizes));
  const Node& node = input.node(i);
  const Shape& shape = node.sources[0]->shape;
  const std::vector<int>& axes = node.as<ReduceAttr>().axes;
  Blocks out;
  for (const int axis : axes) {
    if (wanted < 2) break;
    const double size = input.estimate.of(shape[axis]);
    const bool contraction = input.analysis[i].contraction;
    if (size <= wanted || !shape[axis].is_const()) {
      // The last axis is what a block sums. A symbolic count of results is too many for a
      // contraction.
      if (axis == axes.back() || (contraction && !shape[axis].is_const())) break;
      out.whole.push_back(axis);
      wanted /= size;
      continue;
    }
    const int64_t n = shape[axis].value();
    const auto least = static_cast<int64_t>(std::ceil(wanted));
    const int64_t found = divisor(n, least, contraction ? kMoreOfContraction : kMoreBlocks);
    // The operands of a contraction are padded only if they must be: templates load them unpadded.
    if (found == 0 && contraction && needed < 2) break;
    out.cut = axis;
    out.length = found ? n / found : (n + least - 1) / least;
    out.count = (n + out.length - 1) / out.length;
    break;
  }
  if (out.whole.empty() && out.cut < 0) return std::nullopt;
  return out;
}

class ReductionSplitter {
 public:
  ReductionSplitter(Builder& builder, const ReduceAttr& attr, const Blocks& blocks,
                    bool contraction)
      : builder_(builder), attr_(attr), blocks_(blocks), contraction_(contraction) {}

  /// The two-stage reduction of x, in x's dtype.
  NodeRef run(NodeRef x) const {
    const DType dtype = x->dtype;
    Shape result = x->shape;
    for (const int axis : attr_.axes) result[axis] = 1;
    // The results between the stages have the accumulator's dtype.
    if (attr_.accumulator != dtype) x = builder_.cast(std::move(x), attr_.accumulator);
    x = split_in_blocks(x);
    const int unreduced = static_cast<int>(blocks_.whole.size()) + (blocks_.cut >= 0);
    std::vector<int> inner, outer;
    for (int axis = 0; axis < unreduced; ++axis) outer.push_back(axis);
    for (const int axis : attr_.axes)
      if (!is_whole(axis)) inner.push_back(axis + unreduced - wholes_before(axis));
    x = builder_.reduce(attr_.op, x, inner, attr_.accumulator, attr_.precision);
    x = builder_.reduce(attr_.op, x, outer, attr_.accumulator);  // sums: no matrix precision
    x = builder_.reshape(std::move(x), std::move(result));
    return x->dtype == dtype ? x : builder_.cast(x, dtype);
  }

 private:
  bool is_whole(int axis) const { return std::ranges::count(blocks_.whole, axis) != 0; }
  int wholes_before(int axis) const {
    return static_cast<int>(
        std::ranges::count_if(blocks_.whole, [&](int whole) { return whole < axis; }));
  }

  /// Moves the axes that the first stage does not reduce to the front. Of a contraction both
  /// factors are moved, so that it stays one.
  NodeRef split_in_blocks(const NodeRef& x) const {
    if (contraction_ && x->op == Op::CAST)
      return builder_.cast(split_in_blocks(x->sources[0]), x->dtype);
    if (contraction_ && x->op == Op::MUL)
      return builder_.binary(Op::MUL, moved(x->sources[0]), moved(x->sources[1]));
    return moved(x);
  }

  NodeRef moved(NodeRef x) const {
    std::vector<int> first = blocks_.whole, order;
    if (blocks_.cut >= 0) {
      x = with_block_axis(std::move(x));
      first.push_back(blocks_.cut);  // whole axes come before it
    }
    order = first;
    for (int axis = 0; axis < static_cast<int>(x->shape.size()); ++axis)
      if (!std::ranges::count(first, axis)) order.push_back(axis);
    return std::ranges::is_sorted(order) ? x : builder_.permute(std::move(x), std::move(order));
  }

  /// Splits the axis into (block, position in the block).
  NodeRef with_block_axis(NodeRef x) const {
    const Scalar fill = identity(attr_.op, x->dtype);
    return with_blocks(builder_, std::move(x), blocks_.cut, blocks_.count, blocks_.length, fill);
  }

  Builder& builder_;
  const ReduceAttr& attr_;
  const Blocks& blocks_;
  const bool contraction_;
};

/// An axis that may be empty is not split.
bool may_be_empty(const Node& reduce) {
  return std::ranges::any_of(reduce.as<ReduceAttr>().axes,
                             [&](int axis) { return reduce.sources[0]->shape[axis].min() < 1; });
}

}  // namespace

std::optional<Graph> split_reductions(const SchedulerInput& input, Builder& builder,
                                      const SplitSizes& sizes) {
  std::vector<std::optional<Blocks>> blocks(input.nodes.size());
  bool any = false;
  std::vector<bool> in_blocks(input.nodes.size());  // their kernels loop over blocks already
  if (input.options.fuses_reductions)
    for (const Rematerialised& group : find_rematerialised(input))
      for (const int root : group.roots) in_blocks[static_cast<size_t>(root)] = true;
  for (int i = 0; i < static_cast<int>(input.nodes.size()); ++i) {
    if (input.node(i).op != Op::REDUCE || may_be_empty(input.node(i)) ||
        in_blocks[static_cast<size_t>(i)])
      continue;
    blocks[i] = cut_in_blocks(input, i, sizes);
    any |= blocks[i].has_value();
  }
  if (!any) return std::nullopt;
  return with_changed_nodes(input, builder, [&](int i, const std::vector<NodeRef>& sources) {
    if (!blocks[i]) return NodeRef();
    return ReductionSplitter(builder, input.node(i).as<ReduceAttr>(), *blocks[i],
                             input.analysis[i].contraction)
        .run(sources[0]);
  });
}

}  // namespace tenon::scheduling
