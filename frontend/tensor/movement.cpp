// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Movement: views, and concatenation.
#include <algorithm>
#include <numeric>
#include <optional>

#include "core/support/error.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/promote.hpp"

namespace tenon {

namespace {

/// a <= b for all values of their symbols.
bool at_most(const Dim& a, const Dim& b) { return less(b, a).is_const(0); }

/// The size that makes `known` elements be `total`, or nothing.
std::optional<Dim> missing_size(const Dim& total, const Dim& known) {
  if (known.min() < 1) return std::nullopt;
  const Dim size = floor_div(total, known);
  return size * known == total ? std::optional(size) : std::nullopt;
}

}  // namespace

Tensor Tensor::reshape(const Sizes& sizes) const {
  const Shape asked = to_shape(sizes);
  Shape shape = asked;
  const auto is_unknown = [](const Dim& dim) { return dim.is_const(-1); };
  const auto unknown = std::ranges::find_if(shape, is_unknown);
  if (unknown != shape.end()) {
    *unknown = Dim(1);
    TN_REQUIRE(std::ranges::none_of(shape, is_unknown),
               "[reshape] expected sizes with at most one -1, got {}", to_string(asked));
    check_count("reshape", shape);
    const Dim total = product(dims_of(*this));
    const std::optional<Dim> size = missing_size(total, product(shape));
    TN_REQUIRE(size, "[reshape] expected a shape of {} elements, got {}", to_string(total),
               to_string(asked));
    *unknown = *size;
  } else {
    check_count("reshape", shape);
  }
  return make_tensor(context(), builder_of(*this).reshape(node_of(*this), std::move(shape)));
}

Tensor Tensor::expand(const Sizes& sizes) const {
  const Shape shape = to_shape(sizes);
  TN_REQUIRE(same_shape(broadcast_shapes("expand", dims_of(*this), shape), shape),
             "[expand] expected a shape that {} broadcasts to, got {}", to_string(dims_of(*this)),
             to_string(shape));
  return make_tensor(context(), broadcast_to(builder_of(*this), node_of(*this), shape));
}

Tensor Tensor::permute(std::vector<int> axes) const {
  for (int& axis : axes) axis = normalise_axis("permute", axis, rank());
  return make_tensor(context(), builder_of(*this).permute(node_of(*this), std::move(axes)));
}

Tensor Tensor::transpose(int a, int b) const {
  std::vector<int> axes(static_cast<size_t>(rank()));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[static_cast<size_t>(normalise_axis("transpose", a, rank()))],
            axes[static_cast<size_t>(normalise_axis("transpose", b, rank()))]);
  return permute(std::move(axes));
}

Tensor Tensor::flip(std::vector<int> axes) const {
  return make_tensor(context(),
                     builder_of(*this).flip(node_of(*this), normalise_axes("flip", axes, rank())));
}

Tensor Tensor::pad(std::vector<std::pair<int64_t, int64_t>> pairs, Number value) const {
  const Shape& shape = dims_of(*this);
  TN_REQUIRE(pairs.size() <= shape.size(), "[pad] expected at most {} pairs, got {}", shape.size(),
             pairs.size());
  pairs.resize(shape.size());
  for (size_t axis = 0; axis < pairs.size(); ++axis) {
    const auto [before, after] = pairs[axis];
    int64_t padded = 0;
    TN_REQUIRE(before >= 0 && after >= 0 && !__builtin_add_overflow(before, after, &padded) &&
                   !__builtin_add_overflow(padded, shape[axis].max(), &padded),
               "[pad] expected sides of at least 0 and below 2^63 elements on axis {} of size {}, "
               "got {} and {}",
               axis, to_string(shape[axis]), before, after);
  }
  const std::vector<std::pair<Dim, Dim>> dims(pairs.begin(), pairs.end());
  return make_tensor(context(),
                     builder_of(*this).pad(node_of(*this), dims, value.as("pad", dtype())));
}

namespace {

/// Every step-th element of an axis, from the first on: rows of `step`, of which the first column
/// stays.
Tensor every(const Tensor& x, size_t axis, int64_t step) {
  Shape shape = dims_of(x);
  const Dim extent = shape[axis], count = ceil_div(extent, step);
  std::vector<std::pair<Dim, Dim>> pairs(shape.size(), {Dim(0), Dim(0)});
  pairs[axis].second = count * step - extent;
  shape[axis] = count;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, Dim(step));
  Builder& builder = builder_of(x);
  const NodeRef rows =
      builder.reshape(builder.pad(node_of(x), std::move(pairs), zero(x.dtype())), std::move(shape));
  return make_tensor(x.context(), rows).select(static_cast<int>(axis) + 1, 0);
}

}  // namespace

Tensor Tensor::slice(std::vector<Slice> ranges) const {
  const Shape& shape = dims_of(*this);
  TN_REQUIRE(ranges.size() <= shape.size(), "[slice] expected at most {} ranges, got {}",
             shape.size(), ranges.size());
  ranges.resize(shape.size());
  std::vector<std::pair<Dim, Dim>> pairs;
  std::vector<int> reversed;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const Dim& extent = shape[axis];
    const auto& [first, last, step] = ranges[axis];
    TN_REQUIRE(step != 0 && step != INT64_MIN,
               "[slice] expected a step that is not {}, got it on axis {}", step, axis);
    const auto from_end = [&](const Size& at) {
      return at.maximum() < 0 ? dim_of(at) + extent : dim_of(at);
    };
    Dim begin = first ? from_end(*first) : Dim(0), end = last ? from_end(*last) : extent;
    if (step < 0) {  // the same range, read forwards
      end = first ? from_end(*first) + 1 : extent;
      begin = last ? from_end(*last) + 1 : Dim(0);
      reversed.push_back(static_cast<int>(axis));
    }
    TN_REQUIRE(begin.min() >= 0 && at_most(begin, end) && at_most(end, extent),
               "[slice] expected a range inside [0, {}) on axis {}, got {}:{}", to_string(extent),
               axis, first ? first->text() : to_string(step < 0 ? extent - 1 : Dim(0)),
               last       ? last->text()
               : step < 0 ? ""
                          : to_string(extent));
    pairs.emplace_back(std::move(begin), std::move(end));
  }
  Tensor result =
      make_tensor(context(), builder_of(*this).shrink(node_of(*this), std::move(pairs)));
  if (!reversed.empty()) result = result.flip(reversed);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t extent = dims_of(result)[axis].max();
    const int64_t step = std::min(std::abs(ranges[axis].step), std::max<int64_t>(extent, 1));
    if (step > 1) result = every(result, axis, step);
  }
  return result;
}

Tensor Tensor::select(int axis, int64_t index) const {
  axis = normalise_axis("select", axis, rank());
  const Dim& extent = dims_of(*this)[static_cast<size_t>(axis)];
  TN_REQUIRE(-extent.min() <= index && index < extent.min(),
             "[select] expected an index in [{}, {}), got {}", to_string(-extent),
             to_string(extent), index);
  const Size at = size_of(index < 0 ? extent + index : Dim(index));
  std::vector<Slice> ranges(static_cast<size_t>(axis) + 1);
  ranges.back() = {at, at + 1};
  return slice(std::move(ranges)).squeeze(axis);
}

Tensor Tensor::squeeze(int axis) const {
  axis = normalise_axis("squeeze", axis, rank());
  Shape shape = dims_of(*this);
  const auto at = shape.begin() + axis;
  TN_REQUIRE(at->is_const(1), "[squeeze] expected size 1 on axis {}, got {}", axis, to_string(*at));
  shape.erase(at);
  return make_tensor(context(), builder_of(*this).reshape(node_of(*this), std::move(shape)));
}

Tensor Tensor::unsqueeze(int axis) const {
  axis = normalise_axis("unsqueeze", axis, rank() + 1);
  Shape shape = dims_of(*this);
  shape.insert(shape.begin() + axis, Dim(1));
  return make_tensor(context(), builder_of(*this).reshape(node_of(*this), std::move(shape)));
}

Tensor Tensor::flatten() const { return reshape({size_of(product(dims_of(*this)))}); }

Tensor Tensor::cat(const std::vector<Tensor>& tensors, int axis) {
  TN_REQUIRE(!tensors.empty(), "[cat] expected at least one tensor, got none");
  const Tensor& first = tensors[0];
  axis = normalise_axis("cat", axis, first.rank());
  const auto at = static_cast<size_t>(axis);
  DType dtype = first.dtype();
  Dim total(0);
  for (const Tensor& tensor : tensors) {
    const Shape& shape = dims_of(tensor);
    Shape expected = dims_of(first);
    if (shape.size() == expected.size()) expected[at] = shape[at];
    TN_REQUIRE(same_shape(shape, expected),
               "[cat] expected equal sizes but on axis {}, got {} and {}", axis,
               to_string(dims_of(first)), to_string(shape));
    int64_t most = 0;
    TN_REQUIRE(!__builtin_add_overflow(total.max(), shape[at].max(), &most),
               "[cat] expected fewer than 2^63 elements on axis {}, got more", axis);
    total = total + shape[at];
    dtype = promote_types(dtype, tensor.dtype());
  }
  // By halves, each padded to both and chosen where it belongs: a part is a few choices away, and
  // its gradient a few slices.
  Builder& builder = builder_of(first);
  const auto joined = [&](const auto& self, std::span<const Tensor> parts) -> NodeRef {
    if (parts.size() == 1) {
      NodeRef own = node_in(first.context(), parts[0]);
      return own->dtype == dtype ? own : builder.cast(std::move(own), dtype);
    }
    const size_t half = (parts.size() + 1) / 2;
    const NodeRef left = self(self, parts.first(half)), right = self(self, parts.subspan(half));
    const Dim before = left->shape[at], after = right->shape[at];
    Shape both = left->shape;
    both[at] = before + after;
    std::vector<std::pair<Dim, Dim>> behind(both.size(), {Dim(0), Dim(0)}), ahead = behind;
    behind[at].second = after;
    ahead[at].first = before;
    const Tensor position = make_tensor(first.context(), builder.index(axis, both));
    return builder.where(node_of(position < count_as(position, before)),
                         builder.pad(left, behind, zero(dtype)),
                         builder.pad(right, ahead, zero(dtype)));
  };
  NodeRef result = joined(joined, tensors);
  return make_tensor(first.context(), std::move(result));
}

}  // namespace tenon
