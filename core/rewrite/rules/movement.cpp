// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merges views of one kind, removes views that move nothing, and views of constants.
#include <algorithm>
#include <optional>

#include "core/rewrite/rules/rules.hpp"

namespace tenon::rewrite {
namespace {

const ViewAttr* view_of(const NodeRef& node, ViewKind kind) {
  if (node->op != Op::VIEW || node->as<ViewAttr>().kind != kind) return nullptr;
  return &node->as<ViewAttr>();
}

NodeRef view_of_constant(const NodeRef& node, Builder& builder) {
  const NodeRef& x = node->sources[0];
  if (x->op != Op::CONST) return nullptr;
  const Scalar value = x->as<ConstAttr>().value;
  const ViewAttr& attr = node->as<ViewAttr>();
  if (attr.kind == ViewKind::kPad && attr.fill != value) return nullptr;
  return builder.constant(value, node->shape);
}

bool moves_nothing(const Node& node) {
  const ViewAttr& attr = node.as<ViewAttr>();
  const Shape& from = node.sources[0]->shape;
  switch (attr.kind) {
    case ViewKind::kReshape:
    case ViewKind::kExpand:
    case ViewKind::kPad:
    case ViewKind::kShrink:  // a shrink to the full size
      return same_shape(node.shape, from);
    case ViewKind::kPermute:
      return std::ranges::is_sorted(attr.axes);
    case ViewKind::kFlip:
      return std::ranges::all_of(attr.axes, [&](int axis) { return from[axis].is_const(1); });
  }
  return false;
}

NodeRef useless_view(const NodeRef& node, Builder&) {
  return moves_nothing(*node) ? node->sources[0] : nullptr;
}

/// Replaces a permute that only moves axes of size 1.
NodeRef permute_to_reshape(const NodeRef& node, Builder& builder) {
  const ViewAttr* permute = view_of(node, ViewKind::kPermute);
  if (!permute) return nullptr;
  const NodeRef& x = node->sources[0];
  int last = -1;
  for (const int axis : permute->axes) {
    if (x->shape[axis].is_const(1)) continue;
    if (axis < last) return nullptr;
    last = axis;
  }
  return builder.reshape(x, node->shape);
}

NodeRef merge_reshapes(const NodeRef& node, Builder& builder) {
  const NodeRef& inner = node->sources[0];
  if (!view_of(node, ViewKind::kReshape) || !view_of(inner, ViewKind::kReshape)) return nullptr;
  return builder.reshape(inner->sources[0], node->shape);
}

NodeRef merge_expands(const NodeRef& node, Builder& builder) {
  const NodeRef& inner = node->sources[0];
  if (!view_of(node, ViewKind::kExpand) || !view_of(inner, ViewKind::kExpand)) return nullptr;
  return builder.expand(inner->sources[0], node->shape);
}

NodeRef merge_permutes(const NodeRef& node, Builder& builder) {
  const ViewAttr* outer = view_of(node, ViewKind::kPermute);
  const ViewAttr* inner = view_of(node->sources[0], ViewKind::kPermute);
  if (!outer || !inner) return nullptr;
  std::vector<int> axes;
  for (const int axis : outer->axes) axes.push_back(inner->axes[axis]);
  return builder.permute(node->sources[0]->sources[0], std::move(axes));
}

NodeRef merge_pads(const NodeRef& node, Builder& builder) {
  const ViewAttr* outer = view_of(node, ViewKind::kPad);
  const ViewAttr* inner = view_of(node->sources[0], ViewKind::kPad);
  if (!outer || !inner || outer->fill != inner->fill) return nullptr;
  auto pairs = outer->pairs;
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].first = pairs[i].first + inner->pairs[i].first;
    pairs[i].second = pairs[i].second + inner->pairs[i].second;
  }
  return builder.pad(node->sources[0]->sources[0], std::move(pairs), outer->fill);
}

NodeRef merge_shrinks(const NodeRef& node, Builder& builder) {
  const ViewAttr* outer = view_of(node, ViewKind::kShrink);
  const ViewAttr* inner = view_of(node->sources[0], ViewKind::kShrink);
  if (!outer || !inner) return nullptr;
  auto ranges = outer->pairs;
  for (size_t i = 0; i < ranges.size(); ++i) {
    ranges[i].first = ranges[i].first + inner->pairs[i].first;
    ranges[i].second = ranges[i].second + inner->pairs[i].first;
  }
  return builder.shrink(node->sources[0]->sources[0], std::move(ranges));
}

/// Axes flipped twice are not flipped.
NodeRef merge_flips(const NodeRef& node, Builder& builder) {
  const ViewAttr* outer = view_of(node, ViewKind::kFlip);
  const ViewAttr* inner = view_of(node->sources[0], ViewKind::kFlip);
  if (!outer || !inner) return nullptr;
  std::vector<int> axes;
  std::ranges::set_symmetric_difference(outer->axes, inner->axes, std::back_inserter(axes));
  return builder.flip(node->sources[0]->sources[0], std::move(axes));
}

/// A shrink outside of what a pad surrounds is the fill.
NodeRef shrink_of_fill(const NodeRef& node, Builder& builder) {
  const ViewAttr* shrink = view_of(node, ViewKind::kShrink);
  const ViewAttr* pad = view_of(node->sources[0], ViewKind::kPad);
  if (!shrink || !pad) return nullptr;
  const Shape& size = node->sources[0]->sources[0]->shape;
  for (size_t i = 0; i < size.size(); ++i) {
    const auto& [begin, end] = shrink->pairs[i];
    const Dim& before = pad->pairs[i].first;
    if ((before - end).min() >= 0 || (begin - before - size[i]).min() >= 0)
      return builder.constant(pad->fill, node->shape);
  }
  return nullptr;
}

/// where(position along `axis` < `at`, x, y), as a concatenation chooses between its parts.
struct ChoiceByPosition {
  size_t axis;
  int64_t at;
};
std::optional<ChoiceByPosition> choice_by_position(const Node& node) {
  if (node.op != Op::WHERE || node.sources[0]->op != Op::CMPLT) return std::nullopt;
  const Node &position = *node.sources[0]->sources[0], &at = *node.sources[0]->sources[1];
  if (position.op != Op::INDEX || at.op != Op::CONST) return std::nullopt;
  return ChoiceByPosition{static_cast<size_t>(position.as<IndexAttr>().axis),
                          at.as<ConstAttr>().value.as_int()};
}

/// A pad of numbers of elements, shrunk to numbers: the part of the source, padded.
NodeRef pad_of_shrunk(const NodeRef& padded, const ViewAttr& shrink, Builder& builder) {
  const ViewAttr* pad = view_of(padded, ViewKind::kPad);
  if (!pad) return nullptr;
  const NodeRef& x = padded->sources[0];
  auto ranges = shrink.pairs, pads = pad->pairs;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Dim begin = ranges[i].first - pads[i].first, end = ranges[i].second - pads[i].first;
    if (!begin.is_const() || !end.is_const() || !x->shape[i].is_const()) return nullptr;
    const int64_t size = x->shape[i].value();
    ranges[i].first = std::clamp<int64_t>(begin.value(), 0, size);
    ranges[i].second = std::clamp<int64_t>(end.value(), ranges[i].first.value(), size);
    pads[i].first = std::max<int64_t>(0, std::min(-begin.value(), end.value() - begin.value()));
    pads[i].second = end - begin - (ranges[i].second - ranges[i].first) - pads[i].first;
  }
  return builder.pad(builder.shrink(x, std::move(ranges)), std::move(pads), pad->fill);
}

/// A shrink of a concatenation reads only the parts that it keeps something of.
NodeRef shrink_of_choice(const NodeRef& node, Builder& builder) {
  const ViewAttr* shrink = view_of(node, ViewKind::kShrink);
  const NodeRef& x = node->sources[0];
  const auto choice = shrink ? choice_by_position(*x) : std::nullopt;
  if (!choice) return nullptr;
  const auto& [begin, end] = shrink->pairs[choice->axis];
  if (end.max() <= choice->at) return builder.shrink(x->sources[1], shrink->pairs);
  if (begin.min() >= choice->at) return builder.shrink(x->sources[2], shrink->pairs);
  if (!begin.is_const()) return nullptr;
  const NodeRef left = pad_of_shrunk(x->sources[1], *shrink, builder),
                right = pad_of_shrunk(x->sources[2], *shrink, builder);
  if (!left || !right) return nullptr;
  const DType dtype = x->sources[0]->sources[0]->dtype;
  const NodeRef position = builder.index(static_cast<int>(choice->axis), node->shape, dtype);
  const NodeRef at =
      builder.constant(Scalar::of_int(dtype, choice->at - begin.value()), node->shape);
  return builder.where(builder.binary(Op::CMPLT, position, at), left, right);
}

/// Removes a pad when the shrink only keeps elements of the source.
NodeRef shrink_of_pad(const NodeRef& node, Builder& builder) {
  const ViewAttr* shrink = view_of(node, ViewKind::kShrink);
  const ViewAttr* pad = view_of(node->sources[0], ViewKind::kPad);
  if (!shrink || !pad) return nullptr;
  const NodeRef& x = node->sources[0]->sources[0];
  auto ranges = shrink->pairs;
  for (size_t i = 0; i < ranges.size(); ++i) {
    ranges[i].first = ranges[i].first - pad->pairs[i].first;
    ranges[i].second = ranges[i].second - pad->pairs[i].first;
    if (ranges[i].first.min() < 0 || (x->shape[i] - ranges[i].second).min() < 0) return nullptr;
  }
  return builder.shrink(x, std::move(ranges));
}

/// Moves a shrink before an expand: expanded axes need no shrink, others are cut.
NodeRef shrink_of_expand(const NodeRef& node, Builder& builder) {
  const ViewAttr* shrink = view_of(node, ViewKind::kShrink);
  if (!shrink || !view_of(node->sources[0], ViewKind::kExpand)) return nullptr;
  const NodeRef& x = node->sources[0]->sources[0];
  auto ranges = shrink->pairs;
  for (size_t i = 0; i < ranges.size(); ++i)
    if (x->shape[i].is_const(1)) ranges[i] = {Dim(0), Dim(1)};
  return builder.expand(builder.shrink(x, std::move(ranges)), node->shape);
}

}  // namespace

Rules movement_rules() {
  Rules rules;
  const auto add = [&](std::string_view name, NodeRef (*apply)(const NodeRef&, Builder&)) {
    rules.push_back({name, {Op::VIEW}, apply});
  };
  add("view of a constant", view_of_constant);
  add("view that moves nothing", useless_view);
  add("permute of axes of size 1", permute_to_reshape);
  add("reshape of reshape", merge_reshapes);
  add("expand of expand", merge_expands);
  add("permute of permute", merge_permutes);
  add("pad of pad", merge_pads);
  add("shrink of shrink", merge_shrinks);
  add("flip of flip", merge_flips);
  add("shrink of pad", shrink_of_pad);
  add("shrink of a fill", shrink_of_fill);
  add("shrink of a choice by position", shrink_of_choice);
  add("shrink of expand", shrink_of_expand);
  return rules;
}

}  // namespace tenon::rewrite
