// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/axis_map.hpp"

#include <algorithm>
#include <set>

#include "core/support/hash.hpp"

namespace tenon::scheduling {
namespace {

AxisIndex moved(const AxisIndex& axis, uint64_t salt) {
  return {axis.variables, hash_mix(axis.signature, salt) | 1};
}

void map_reshape_group(const Shape& source, const Shape& target, size_t source_begin,
                       size_t source_end, size_t target_begin, size_t target_end,
                       const IndexMap& map, IndexMap& out) {
  std::vector<size_t> wide_sources, wide_targets;
  for (size_t i = source_begin; i < source_end; ++i)
    if (!source[i].is_const(1)) wide_sources.push_back(i);
  for (size_t j = target_begin; j < target_end; ++j)
    if (!target[j].is_const(1)) wide_targets.push_back(j);
  if (wide_sources.size() == 1 && wide_targets.size() == 1) {
    out.axes[wide_sources[0]] = map.axes[wide_targets[0]];
    return;
  }
  if (!wide_sources.empty()) out.splits += static_cast<int>(wide_sources.size()) - 1;
  AxisIndex all{0, 0x7265736861706555ULL};
  for (size_t j : wide_targets) {
    all.variables |= map.axes[j].variables;
    all.signature = hash_mix(hash_mix(all.signature, map.axes[j].signature), target[j].hash());
  }
  for (size_t i : wide_sources) all.signature = hash_mix(all.signature, source[i].hash());
  for (size_t k = 0; k < wide_sources.size(); ++k) out.axes[wide_sources[k]] = moved(all, k);
}

/// Splits both shapes into the smallest groups of axes with equal products. Where symbols hide
/// that two products are equal, the rest is one group.
IndexMap through_reshape(const Shape& source, const Shape& target, const IndexMap& map,
                         const SizeEstimate& estimate) {
  IndexMap out = map;
  out.axes.assign(source.size(), {});
  ++out.views;
  size_t i = 0, j = 0;
  while (i < source.size() || j < target.size()) {
    const size_t i0 = i, j0 = j;
    Dim p = 1, q = 1;
    if (i < source.size()) p = source[i++];
    if (j < target.size()) q = target[j++];
    while (!(p == q)) {
      const bool more_p = i < source.size(), more_q = j < target.size();
      if (!more_p && !more_q) break;
      if (more_p && (!more_q || estimate.of(p) < estimate.of(q))) {
        p = p * source[i++];
      } else {
        q = q * target[j++];
      }
    }
    map_reshape_group(source, target, i0, i, j0, j, map, out);
  }
  return out;
}

bool trace_to(const SchedulerInput& input, int i, int below, IndexMap& map,
              std::set<int>& without) {
  if (i == below) return true;
  const Node& node = input.node(i);
  if ((node.op != Op::VIEW && node.op != Op::CAST && !is_elementwise(node.op)) || i < below ||
      without.contains(i))
    return false;
  for (const int s : input.sources[i]) {
    IndexMap next = node.op == Op::VIEW ? through_view(node, map, input.estimate) : map;
    if (!trace_to(input, s, below, next, without)) continue;
    map = std::move(next);
    return true;
  }
  without.insert(i);
  return false;
}

}  // namespace

IndexMap identity_map(const Shape& shape) {
  IndexMap out;
  for (size_t d = 0; d < shape.size(); ++d)
    out.axes.push_back(shape[d].is_const(1) ? AxisIndex{} : AxisIndex{uint64_t{1} << d, 2 * d + 1});
  return out;
}

bool trace_to(const SchedulerInput& input, int i, int below, IndexMap& map) {
  std::set<int> without;
  return trace_to(input, i, below, map, without);
}

uint64_t IndexMap::variables() const {
  uint64_t out = 0;
  for (const AxisIndex& axis : axes) out |= axis.variables;
  return out;
}

IndexMap through_view(const Node& view, const IndexMap& map, const SizeEstimate& estimate) {
  const ViewAttr& attr = view.as<ViewAttr>();
  const Shape& source = view.sources[0]->shape;
  IndexMap out = map;
  ++out.views;
  switch (attr.kind) {
    case ViewKind::kReshape:
      return through_reshape(source, view.shape, map, estimate);
    case ViewKind::kExpand:
      break;
    case ViewKind::kPermute:
      for (size_t i = 0; i < attr.axes.size(); ++i) out.axes[attr.axes[i]] = map.axes[i];
      break;
    case ViewKind::kPad:
      for (size_t i = 0; i < out.axes.size(); ++i) {
        const auto& [before, after] = attr.pairs[i];
        if (before.is_const(0) && after.is_const(0)) continue;
        out.axes[i] = moved(map.axes[i], hash_mix(before.hash(), 1));
        out.irregular = true;
        out.padded *=
            std::max(1.0, estimate.of(view.shape[i])) / std::max(1.0, estimate.of(source[i]));
      }
      break;
    case ViewKind::kShrink:
      for (size_t i = 0; i < out.axes.size(); ++i) {
        if (!attr.pairs[i].first.is_const(0))
          out.axes[i] = moved(map.axes[i], hash_mix(attr.pairs[i].first.hash(), 2));
      }
      break;
    case ViewKind::kFlip:
      for (int axis : attr.axes)
        out.axes[axis] = moved(map.axes[axis], hash_mix(source[axis].hash(), 3));
      break;
  }
  for (size_t i = 0; i < source.size(); ++i)
    if (source[i].is_const(1)) out.axes[i] = {};
  return out;
}

IndexMap through_take(const Node& take, const IndexMap& map) {
  IndexMap out = map;
  AxisIndex& axis = out.axes[take.as<TakeAttr>().axis];
  axis = {map.variables(), hash_mix(take.sources[1]->hash, 4) | 1};
  out.irregular = out.gathers = true;
  ++out.splits;
  return out;
}

bool is_identity(const IndexMap& map, const IndexMap& identity) {
  std::vector<uint64_t> a, b;
  for (const AxisIndex& axis : map.axes)
    if (axis.signature) a.push_back(axis.signature);
  for (const AxisIndex& axis : identity.axes)
    if (axis.signature) b.push_back(axis.signature);
  return !map.irregular && a == b;
}

}  // namespace tenon::scheduling
