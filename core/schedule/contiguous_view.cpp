// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/contiguous_view.hpp"

namespace tenon::scheduling {
namespace {

/// Offset of a range's first element in its source, in elements.
Expr begin_of(const Node& node) {
  Expr begin, stride = 1;
  const auto& attr = node.as<ViewAttr>();
  if (attr.kind != ViewKind::kShrink) return begin;
  const Shape& from = node.sources[0]->shape;
  for (size_t axis = from.size(); axis-- > 0;) {
    begin = begin + attr.pairs[axis].first * stride;
    stride = stride * from[axis];
  }
  return begin;
}

}  // namespace

bool is_range(const Node& node) {
  if (node.op != Op::VIEW) return false;
  const auto& attr = node.as<ViewAttr>();
  if (attr.kind == ViewKind::kReshape) return true;
  if (attr.kind != ViewKind::kShrink) return false;
  // Contiguous: axes of size 1, then one axis cut anywhere, then whole axes.
  size_t axis = 0;
  while (axis < node.shape.size() && node.shape[axis].is_const(1)) ++axis;
  for (++axis; axis < node.shape.size(); ++axis)
    if (!(node.shape[axis] == node.sources[0]->shape[axis])) return false;
  return true;
}

CopiedRange copied_range(const SchedulerInput& input, int copy) {
  CopiedRange range{input.sources[copy][0], 0};
  while (is_range(input.node(range.base)) && input.device[range.base] >= 0 &&
         !input.capabilities(range.base).compute) {
    range.offset = range.offset + begin_of(input.node(range.base));
    range.base = input.sources[range.base][0];
  }
  return range;
}

}  // namespace tenon::scheduling
