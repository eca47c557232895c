// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives of movement ops. Each view is the transpose of another.
#include "core/autodiff/backward.hpp"
#include "core/autodiff/rules.hpp"
#include "core/support/error.hpp"

namespace tenon::autodiff {
namespace {

std::vector<int> inverse(const std::vector<int>& axes) {
  std::vector<int> out(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) out[static_cast<size_t>(axes[i])] = static_cast<int>(i);
  return out;
}

/// Range of the source in the padded tensor, for each axis.
std::vector<std::pair<Dim, Dim>> source_range(const ViewAttr& attr, const Shape& source) {
  std::vector<std::pair<Dim, Dim>> ranges;
  for (size_t i = 0; i < source.size(); ++i)
    ranges.emplace_back(attr.pairs[i].first, attr.pairs[i].first + source[i]);
  return ranges;
}

/// Elements that a shrink removed before and after, for each axis.
std::vector<std::pair<Dim, Dim>> cut_widths(const ViewAttr& attr, const Shape& source) {
  std::vector<std::pair<Dim, Dim>> pairs;
  for (size_t i = 0; i < source.size(); ++i)
    pairs.emplace_back(attr.pairs[i].first, source[i] - attr.pairs[i].second);
  return pairs;
}

NodeRef grown_axes_summed(const NodeRef& node, const NodeRef& adjoint, Backward& backward) {
  const Shape& from = node->sources[0]->shape;
  std::vector<int> axes;
  for (size_t i = 0; i < from.size(); ++i)
    if (!(from[i] == node->shape[i])) axes.push_back(static_cast<int>(i));
  if (axes.empty()) return adjoint;
  return backward.builder().reduce(Op::ADD, backward.widened(adjoint), std::move(axes),
                                   DType::kVoid, backward.precision_of(*node));
}

}  // namespace

void through_cast(const NodeRef& node, const NodeRef& adjoint, Backward& backward) {
  const NodeRef& x = node->sources[0];
  const DType dtype = wide(x->dtype);
  backward.accumulate(x,
                      adjoint->dtype == dtype ? adjoint : backward.builder().cast(adjoint, dtype));
}

void through_view(const NodeRef& node, const NodeRef& adjoint, Backward& backward) {
  const NodeRef& x = node->sources[0];
  const auto& attr = node->as<ViewAttr>();
  Builder& builder = backward.builder();
  backward.set_precision(*x, backward.precision_of(*node));
  switch (attr.kind) {
    case ViewKind::kReshape:
      return backward.accumulate(x, builder.reshape(adjoint, x->shape));
    case ViewKind::kExpand:
      return backward.accumulate(x, grown_axes_summed(node, adjoint, backward));
    case ViewKind::kPermute:
      return backward.accumulate(x, builder.permute(adjoint, inverse(attr.axes)));
    case ViewKind::kPad:
      return backward.accumulate(x, builder.shrink(adjoint, source_range(attr, x->shape)));
    case ViewKind::kShrink:
      return backward.accumulate(
          x, builder.pad(adjoint, cut_widths(attr, x->shape), zero(adjoint->dtype)));
    case ViewKind::kFlip:
      return backward.accumulate(x, builder.flip(adjoint, attr.axes));
  }
  TN_ASSERT(false);
}

void through_copy(const NodeRef& node, const NodeRef& adjoint, Backward& backward) {
  const NodeRef& x = node->sources[0];
  const std::string& device = backward.device_of(x);
  backward.accumulate(x, device.empty() ? adjoint : backward.builder().copy(adjoint, device));
}

}  // namespace tenon::autodiff
