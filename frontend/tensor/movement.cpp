// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Movement: views, and concatenation.
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/promote.hpp"

namespace tenon {

Tensor Tensor::reshape(std::vector<int64_t> shape) const {
  const auto unknown = std::ranges::find(shape, -1);
  if (unknown != shape.end()) {
    const std::vector<int64_t> asked = shape;
    *unknown = 1;
    TN_REQUIRE(std::ranges::find(shape, -1) == shape.end(),
               "[reshape] expected sizes with at most one -1, got [{}]", fmt::join(asked, ", "));
    const int64_t known = count_of("reshape", shape);
    TN_REQUIRE(known != 0 && size() % known == 0,
               "[reshape] expected a shape of {} elements, got [{}]", size(),
               fmt::join(asked, ", "));
    *unknown = size() / known;
  } else {
    count_of("reshape", shape);
  }
  return make_tensor(context(), builder_of(*this).reshape(node_of(*this), to_shape(shape)));
}

Tensor Tensor::expand(std::vector<int64_t> shape) const {
  const std::vector<int64_t> reached = broadcast_shapes("expand", this->shape(), shape);
  TN_REQUIRE(reached == shape, "[expand] expected a shape that [{}] broadcasts to, got [{}]",
             fmt::join(this->shape(), ", "), fmt::join(shape, ", "));
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
  const std::vector<int64_t> shape = this->shape();
  TN_REQUIRE(pairs.size() <= shape.size(), "[pad] expected at most {} pairs, got {}", shape.size(),
             pairs.size());
  pairs.resize(shape.size());
  for (size_t axis = 0; axis < pairs.size(); ++axis) {
    const auto [before, after] = pairs[axis];
    int64_t padded = 0;
    TN_REQUIRE(before >= 0 && after >= 0 && !__builtin_add_overflow(before, after, &padded) &&
                   !__builtin_add_overflow(padded, shape[axis], &padded),
               "[pad] expected sides of at least 0 and below 2^63 elements on axis {} of size {}, "
               "got {} and {}",
               axis, shape[axis], before, after);
  }
  const std::vector<std::pair<Dim, Dim>> dims(pairs.begin(), pairs.end());
  return make_tensor(context(),
                     builder_of(*this).pad(node_of(*this), dims, value.as("pad", dtype())));
}

namespace {

/// Every step-th element of an axis, from the first on: rows of `step`, of which the first column
/// stays.
Tensor every(const Tensor& x, int axis, int64_t step) {
  const int64_t extent = x.size(axis), count = (extent + step - 1) / step;
  std::vector<int64_t> shape = x.shape();
  const auto at = static_cast<size_t>(axis);
  std::vector<std::pair<int64_t, int64_t>> pairs(shape.size(), {0, 0});
  pairs[at].second = count * step - extent;
  shape[at] = count;
  shape.insert(shape.begin() + axis + 1, step);
  const Tensor rows = x.pad(std::move(pairs)).reshape(std::move(shape));
  return rows.select(axis + 1, 0);
}

}  // namespace

Tensor Tensor::slice(std::vector<Slice> ranges) const {
  const std::vector<int64_t> shape = this->shape();
  TN_REQUIRE(ranges.size() <= shape.size(), "[slice] expected at most {} ranges, got {}",
             shape.size(), ranges.size());
  ranges.resize(shape.size());
  std::vector<std::pair<Dim, Dim>> pairs;
  std::vector<int> reversed;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t extent = shape[axis];
    const auto [first, last, step] = ranges[axis];
    TN_REQUIRE(step != 0 && step != INT64_MIN,
               "[slice] expected a step that is not {}, got it on axis {}", step, axis);
    const auto from_end = [&](int64_t at) { return at < 0 ? at + extent : at; };
    int64_t begin = from_end(first.value_or(0)), end = from_end(last.value_or(extent));
    if (step < 0) {  // the same range, read forwards
      end = first ? from_end(*first) + 1 : extent;
      begin = last ? from_end(*last) + 1 : 0;
      reversed.push_back(static_cast<int>(axis));
    }
    TN_REQUIRE(0 <= begin && begin <= end && end <= extent,
               "[slice] expected a range inside [0, {}) on axis {}, got {}:{}", extent, axis,
               first.value_or(step < 0 ? extent - 1 : 0),
               last       ? fmt::to_string(*last)
               : step < 0 ? ""
                          : fmt::to_string(extent));
    pairs.emplace_back(begin, end);
  }
  Tensor result =
      make_tensor(context(), builder_of(*this).shrink(node_of(*this), std::move(pairs)));
  if (!reversed.empty()) result = result.flip(reversed);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t extent = result.size(static_cast<int>(axis));
    const int64_t step = std::min(std::abs(ranges[axis].step), std::max<int64_t>(extent, 1));
    if (step > 1) result = every(result, static_cast<int>(axis), step);
  }
  return result;
}

Tensor Tensor::select(int axis, int64_t index) const {
  axis = normalise_axis("select", axis, rank());
  const int64_t extent = size(axis);
  TN_REQUIRE(-extent <= index && index < extent, "[select] expected an index in [{}, {}), got {}",
             -extent, extent, index);
  const int64_t at = index < 0 ? index + extent : index;
  std::vector<Slice> ranges(static_cast<size_t>(axis) + 1);
  ranges.back() = {at, at + 1};
  return slice(std::move(ranges)).squeeze(axis);
}

Tensor Tensor::squeeze(int axis) const {
  axis = normalise_axis("squeeze", axis, rank());
  TN_REQUIRE(size(axis) == 1, "[squeeze] expected size 1 on axis {}, got {}", axis, size(axis));
  std::vector<int64_t> shape = this->shape();
  shape.erase(shape.begin() + axis);
  return reshape(std::move(shape));
}

Tensor Tensor::unsqueeze(int axis) const {
  axis = normalise_axis("unsqueeze", axis, rank() + 1);
  std::vector<int64_t> shape = this->shape();
  shape.insert(shape.begin() + axis, 1);
  return reshape(std::move(shape));
}

Tensor Tensor::flatten() const { return reshape({size()}); }

Tensor Tensor::cat(const std::vector<Tensor>& tensors, int axis) {
  TN_REQUIRE(!tensors.empty(), "[cat] expected at least one tensor, got none");
  const Tensor& first = tensors[0];
  axis = normalise_axis("cat", axis, first.rank());
  const auto at = static_cast<size_t>(axis);
  DType dtype = first.dtype();
  int64_t total = 0;
  for (const Tensor& tensor : tensors) {
    std::vector<int64_t> expected = first.shape();
    if (tensor.rank() == first.rank()) expected[at] = tensor.size(axis);
    TN_REQUIRE(tensor.shape() == expected,
               "[cat] expected equal sizes but on axis {}, got [{}] and [{}]", axis,
               fmt::join(first.shape(), ", "), fmt::join(tensor.shape(), ", "));
    TN_REQUIRE(!__builtin_add_overflow(total, expected[at], &total),
               "[cat] expected fewer than 2^63 elements on axis {}, got more", axis);
    dtype = promote_types(dtype, tensor.dtype());
  }
  // Each part is padded to the whole, and chosen where it belongs.
  Builder& builder = builder_of(first);
  std::vector<int64_t> whole = first.shape();
  whole[at] = total;
  NodeRef position = builder.index(axis, to_shape(whole));
  NodeRef result;
  int64_t begin = 0;
  for (const Tensor& tensor : tensors) {
    const int64_t extent = tensor.size(axis);
    std::vector<std::pair<Dim, Dim>> pairs(whole.size(), {Dim(0), Dim(0)});
    pairs[at] = {Dim(begin), Dim(total - begin - extent)};
    NodeRef own = node_in(first.context(), tensor);
    if (own->dtype != dtype) own = builder.cast(std::move(own), dtype);
    NodeRef part = builder.pad(std::move(own), std::move(pairs), zero(dtype));
    const NodeRef start = builder.constant(Scalar::of_int(DType::kI64, begin), to_shape(whole));
    result = begin == 0 && !result
                 ? part
                 : builder.where(builder.binary(Op::CMPLT, position, start), result, part);
    begin += extent;
  }
  return make_tensor(first.context(), std::move(result));
}

}  // namespace tenon
