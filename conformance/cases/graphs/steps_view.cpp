// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Movement ops on nodes of the pool.
#include <algorithm>

#include "conformance/cases/graphs/steps.hpp"

namespace tenon::conformance::graphs {
namespace {

Entry split_or_merge(Grower& g, const Entry& x) {
  Shape shape = x.node->shape;
  if (shape.size() > 1 && g.choices().chance(60)) {
    const size_t at = g.choices().below(shape.size() - 1);
    shape[at] = shape[at] * shape[at + 1];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  } else {
    const size_t at = g.choices().below(shape.size() + 1);
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), Dim(1));
    for (size_t i = 0; i < shape.size(); ++i)
      for (const int64_t factor : {2, 3, 5, 13})
        if (shape[i].is_const() && shape[i].value() > factor && shape[i].value() % factor == 0 &&
            g.choices().chance(30)) {
          shape[at == i ? i : at] = Dim(factor);
          shape[i] = Dim(shape[i].value() / factor);
          if (product(shape) == product(x.node->shape))
            return {g.build().reshape(x.node, shape), x.low, x.high};
          return x;
        }
  }
  return {g.build().reshape(x.node, shape), x.low, x.high};
}

Entry padded(Grower& g, const Entry& x) {
  std::vector<std::pair<Dim, Dim>> pairs;
  for (size_t i = 0; i < x.node->shape.size(); ++i)
    pairs.emplace_back(Dim(g.choices().between(0, 2)), Dim(g.choices().between(0, 2)));
  const double fill = g.choices().chance(50) ? 0 : 1;
  return {g.build().pad(x.node, pairs, Scalar::of(x.node->dtype, fill)), std::min(x.low, fill),
          std::max(x.high, fill)};
}

Entry shrunk(Grower& g, const Entry& x) {
  std::vector<std::pair<Dim, Dim>> ranges;
  for (const Dim& dim : x.node->shape) {
    const int64_t begin = g.choices().between(0, std::clamp<int64_t>(dim.min() - 1, 0, 3));
    const int64_t end = g.choices().between(0, std::clamp<int64_t>(dim.min() - 1 - begin, 0, 3));
    ranges.emplace_back(Dim(begin), dim - Dim(end));
  }
  return {g.build().shrink(x.node, ranges), x.low, x.high};
}

Entry broadcast(Grower& g, const Entry& x) {
  Shape large = x.node->shape;
  large.insert(large.begin() + static_cast<std::ptrdiff_t>(g.choices().below(large.size() + 1)),
               g.draw_dim());
  const bool leads =
      large.size() > 1 && same_shape({large.begin() + 1, large.end()}, x.node->shape);
  if (!g.fits(large)) return x;
  if (leads) return g.to_shape(x, large);
  Shape widened = large;
  for (size_t i = 0; i < large.size(); ++i) {
    Shape without = large;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (!same_shape(without, x.node->shape)) continue;
    widened[i] = Dim(1);
    return {g.build().expand(g.build().reshape(x.node, widened), large), x.low, x.high};
  }
  return x;
}

Entry permuted(Grower& g, const Entry& x) {
  std::vector<int> axes(x.node->shape.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(axes.size() - 1 - i);
  for (size_t i = 0; axes.size() > 2 && i + 1 < axes.size(); ++i)
    std::swap(axes[i], axes[i + g.choices().below(axes.size() - i)]);
  return {g.build().permute(x.node, axes), x.low, x.high};
}

}  // namespace

int axis_of(Grower& g, const Shape& shape) {
  return static_cast<int>(g.choices().below(shape.size()));
}

std::vector<int> draw_axes(Grower& g, const Shape& shape) {
  std::vector<int> axes;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i)
    if (g.choices().chance(40)) axes.push_back(i);
  if (axes.empty()) axes.push_back(axis_of(g, shape));
  return axes;
}

Entry with_axis(Grower& g, Entry x) {
  if (x.node->shape.empty()) x.node = g.build().reshape(x.node, {Dim(1)});
  return x;
}

Entry view_as(Grower& g, const Entry& x, EdgeLayout layout) {
  const Choices::Scope scope(g.choices(), Part::kLayout);
  switch (layout) {
    case EdgeLayout::kPlain:
      return x;
    case EdgeLayout::kReshaped:
      return split_or_merge(g, x);
    case EdgeLayout::kBroadcast:
      return broadcast(g, x);
    case EdgeLayout::kPermuted:
      return permuted(g, x);
    case EdgeLayout::kPadded:
      return padded(g, x);
    case EdgeLayout::kShrunk:
      return shrunk(g, x);
    case EdgeLayout::kFlipped:
      return {g.build().flip(x.node, {axis_of(g, x.node->shape)}), x.low, x.high};
    case EdgeLayout::kChained: {
      constexpr EdgeLayout kFirst[] = {EdgeLayout::kFlipped, EdgeLayout::kPadded,
                                       EdgeLayout::kBroadcast};
      constexpr EdgeLayout kThen[] = {EdgeLayout::kPermuted, EdgeLayout::kShrunk,
                                      EdgeLayout::kReshaped};
      const Entry first = view_as(g, x, g.choices().pick(kFirst));
      return view_as(g, first, g.choices().pick(kThen));
    }
  }
  return x;
}

Entry grow_view(Grower& g) {
  const Entry x = with_axis(g, g.any());
  const auto kind = 1 + g.choices().below(kEdgeLayoutCount - 1);
  const Entry out = view_as(g, x, static_cast<EdgeLayout>(kind));
  return g.fits(out.node->shape) ? out : x;
}

}  // namespace tenon::conformance::graphs
