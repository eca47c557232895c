// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Movement: views, and concatenation.
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"

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
  const std::vector<std::pair<Dim, Dim>> dims(pairs.begin(), pairs.end());
  return make_tensor(context(),
                     builder_of(*this).pad(node_of(*this), dims, value.as("pad", dtype())));
}

Tensor Tensor::slice(std::vector<Slice> ranges) const {
  const std::vector<int64_t> shape = this->shape();
  TN_REQUIRE(ranges.size() <= shape.size(), "[slice] expected at most {} ranges, got {}",
             shape.size(), ranges.size());
  std::vector<std::pair<Dim, Dim>> pairs;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const Slice range = axis < ranges.size() ? ranges[axis] : Slice{};
    const auto from_end = [&](int64_t at) { return at < 0 ? at + shape[axis] : at; };
    const int64_t begin = from_end(range.begin);
    const int64_t end = from_end(range.end.value_or(shape[axis]));
    TN_REQUIRE(0 <= begin && begin <= end && end <= shape[axis],
               "[slice] expected a range inside [0, {}) on axis {}, got {}:{}", shape[axis], axis,
               range.begin, range.end.value_or(shape[axis]));
    pairs.emplace_back(begin, end);
  }
  return make_tensor(context(), builder_of(*this).shrink(node_of(*this), std::move(pairs)));
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
  int64_t total = 0;
  for (const Tensor& tensor : tensors) {
    std::vector<int64_t> shape = tensor.shape();
    std::vector<int64_t> expected = first.shape();
    TN_REQUIRE(shape.size() == expected.size() && tensor.dtype() == first.dtype(),
               "[cat] expected {}[{}], got {}[{}]", dtype_name(first.dtype()),
               fmt::join(expected, ", "), dtype_name(tensor.dtype()), fmt::join(shape, ", "));
    total += shape[at];
    expected[at] = shape[at];
    TN_REQUIRE(shape == expected, "[cat] expected equal sizes but on axis {}, got [{}] and [{}]",
               axis, fmt::join(first.shape(), ", "), fmt::join(shape, ", "));
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
    NodeRef part =
        builder.pad(node_in(first.context(), tensor), std::move(pairs), zero(first.dtype()));
    const NodeRef start = builder.constant(Scalar::of_int(DType::kI64, begin), to_shape(whole));
    result = begin == 0 && !result
                 ? part
                 : builder.where(builder.binary(Op::CMPLT, position, start), result, part);
    begin += extent;
  }
  return make_tensor(first.context(), std::move(result));
}

}  // namespace tenon
