// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Movement: views, and concatenation.
#include <algorithm>
#include <numeric>
#include <optional>

#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/move.hpp"
#include "tenon/promote.hpp"

namespace tenon {

namespace {

/// The size that makes `known` elements be `total`, or nothing.
std::optional<Dim> missing_size(const Dim& total, const Dim& known) {
  if (known.min() < 1) return std::nullopt;
  const Dim size = floor_div(total, known);
  return size * known == total ? std::optional(size) : std::nullopt;
}

}  // namespace

Tensor reshape(const Tensor& x, const Sizes& sizes) {
  const Shape asked = to_shape(sizes);
  Shape shape = asked;
  const auto is_unknown = [](const Dim& dim) { return dim.is_const(-1); };
  const auto unknown = std::ranges::find_if(shape, is_unknown);
  if (unknown != shape.end()) {
    *unknown = Dim(1);
    TN_REQUIRE(std::ranges::none_of(shape, is_unknown),
               "[reshape] expected sizes with at most one -1, got {}", to_string(asked));
    check_count("reshape", shape);
    const Dim total = product(dims_of(x));
    const std::optional<Dim> size = missing_size(total, product(shape));
    TN_REQUIRE(size, "[reshape] expected a shape of {} elements, got {}", to_string(total),
               to_string(asked));
    *unknown = *size;
  } else {
    check_count("reshape", shape);
  }
  return as_op("reshape", [&] {
    return make_tensor(x.context(), builder_of(x).reshape(node_of(x), std::move(shape)));
  });
}

Tensor broadcast_to(const Tensor& x, const Sizes& sizes) {
  const Shape shape = to_shape(sizes);
  TN_REQUIRE(same_shape(broadcast_shapes("broadcast_to", dims_of(x), shape), shape),
             "[broadcast_to] expected a shape that {} broadcasts to, got {}", to_string(dims_of(x)),
             to_string(shape));
  return as_op("broadcast_to", [&] {
    return make_tensor(x.context(), broadcast_to(builder_of(x), node_of(x), shape));
  });
}

Tensor transpose(const Tensor& x, const Axes& axes) {
  std::vector<int> order;
  TN_REQUIRE(axes.empty() || static_cast<int>(axes.size()) == x.rank(),
             "[transpose] expected none or all of {} axes, got {}", x.rank(), axes.size());
  normalise_axes("transpose", axes, x.rank());  // each once
  for (const int axis : axes) order.push_back(normalise_axis("transpose", axis, x.rank()));
  for (int axis = x.rank() - 1; axes.empty() && axis >= 0; --axis) order.push_back(axis);
  return make_tensor(x.context(), builder_of(x).permute(node_of(x), std::move(order)));
}

Tensor swapaxes(const Tensor& x, int axis1, int axis2) {
  std::vector<int> axes(static_cast<size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[static_cast<size_t>(normalise_axis("swapaxes", axis1, x.rank()))],
            axes[static_cast<size_t>(normalise_axis("swapaxes", axis2, x.rank()))]);
  return x.transpose(std::move(axes));
}

Tensor matrix_transpose(const Tensor& x) {
  TN_REQUIRE(x.rank() >= 2, "[matrix_transpose] expected a rank of 2 or more, got {}", x.rank());
  return x.swapaxes(-2, -1);
}

Tensor flip(const Tensor& x, const Axes& axis) {
  return make_tensor(x.context(),
                     builder_of(x).flip(node_of(x), normalise_axes("flip", axis, x.rank())));
}

Tensor pad(const Tensor& x, const PadWidths& widths, Number value) {
  const Shape& shape = dims_of(x);
  TN_REQUIRE(widths.size() <= shape.size(), "[pad] expected at most {} pairs, got {}", shape.size(),
             widths.size());
  std::vector<std::pair<Dim, Dim>> pairs(shape.size(), {Dim(0), Dim(0)});
  for (size_t axis = 0; axis < widths.size(); ++axis) {
    const auto& [before, after] = widths[axis];
    int64_t padded = 0;
    TN_REQUIRE(before.minimum() >= 0 && after.minimum() >= 0 &&
                   !__builtin_add_overflow(before.maximum(), after.maximum(), &padded) &&
                   !__builtin_add_overflow(padded, shape[axis].max(), &padded),
               "[pad] expected sides of at least 0 and below 2^63 elements on axis {} of size {}, "
               "got {} and {}",
               axis, to_string(shape[axis]), before.text(), after.text());
    pairs[axis] = {dim_of(before), dim_of(after)};
  }
  return make_tensor(x.context(), builder_of(x).pad(node_of(x), pairs, value.as("pad", x.dtype())));
}

namespace {

/// Every step-th element of an axis, from the first on: rows of `step`, of which the first column
/// stays.
Tensor every(const Tensor& x, size_t axis, int64_t step) {
  check_room("slice", x, 1);
  Shape shape = dims_of(x);
  const Dim extent = shape[axis], count = ceil_div(extent, step);
  std::vector<std::pair<Dim, Dim>> pairs(shape.size(), {Dim(0), Dim(0)});
  pairs[axis].second = count * step - extent;
  shape[axis] = count;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, Dim(step));
  Builder& builder = builder_of(x);
  const NodeRef rows =
      builder.reshape(builder.pad(node_of(x), std::move(pairs), zero(x.dtype())), std::move(shape));
  return make_tensor(x.context(), rows).take(0, static_cast<int>(axis) + 1);
}

}  // namespace

Tensor slice(const Tensor& x, std::vector<Slice> ranges) {
  const Shape& shape = dims_of(x);
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
    const bool ends_inside =
        begin.min() >= 0 && at_most(begin, extent) && end.min() >= 0 && at_most(end, extent);
    TN_REQUIRE(!ends_inside || !first || !last || at_most(begin, end),
               "[slice] expected a range that goes {} on axis {}, got {}:{}:{}",
               step < 0 ? "down, as its step does," : "up", axis, first->text(), last->text(),
               step);
    TN_REQUIRE(begin.min() >= 0 && at_most(begin, end) && at_most(end, extent),
               "[slice] expected a range inside [0, {}) on axis {}, got {}:{}", to_string(extent),
               axis, first ? first->text() : to_string(step < 0 ? extent - 1 : Dim(0)),
               last       ? last->text()
               : step < 0 ? ""
                          : to_string(extent));
    pairs.emplace_back(std::move(begin), std::move(end));
  }
  Tensor result = make_tensor(x.context(), builder_of(x).shrink(node_of(x), std::move(pairs)));
  if (!reversed.empty()) result = result.flip(reversed);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t extent = dims_of(result)[axis].max();
    const int64_t step = std::min(std::abs(ranges[axis].step), std::max<int64_t>(extent, 1));
    if (step > 1) result = every(result, axis, step);
  }
  return result;
}

Tensor squeeze(const Tensor& x, const Axes& axis) {
  std::vector<int> dropped = normalise_axes("squeeze", axis, x.rank());
  const auto is_one = [&](int at) { return dims_of(x)[static_cast<size_t>(at)].is_const(1); };
  if (axis.empty()) std::erase_if(dropped, [&](int at) { return !is_one(at); });
  for (const int at : dropped)
    TN_REQUIRE(is_one(at), "[squeeze] expected size 1 on axis {}, got {}", at,
               to_string(dims_of(x)[static_cast<size_t>(at)]));
  return drop_axes(x, dropped);
}

Tensor expand_dims(const Tensor& x, const Axes& axis) {
  if (axis.empty()) return x;
  Shape shape = dims_of(x);
  for (const int at : normalise_axes("expand_dims", axis, x.rank() + static_cast<int>(axis.size())))
    shape.insert(shape.begin() + at, Dim(1));
  return as_op("expand_dims", [&] {
    return make_tensor(x.context(), builder_of(x).reshape(node_of(x), std::move(shape)));
  });
}

Tensor ravel(const Tensor& x) { return x.reshape({size_of(product(dims_of(x)))}); }

Tensor concatenate(const std::vector<Tensor>& tensors, int axis) {
  TN_REQUIRE(!tensors.empty(), "[concatenate] expected at least one tensor, got none");
  const Tensor& first = tensors[0];
  axis = normalise_axis("concatenate", axis, first.rank());
  const auto at = static_cast<size_t>(axis);
  DType dtype = first.dtype();
  Dim total(0);
  for (const Tensor& tensor : tensors) {
    const Shape& shape = dims_of(tensor);
    Shape expected = dims_of(first);
    if (shape.size() == expected.size()) expected[at] = shape[at];
    TN_REQUIRE(same_shape(shape, expected),
               "[concatenate] expected equal sizes but on axis {}, got {} and {}", axis,
               to_string(dims_of(first)), to_string(shape));
    int64_t most = 0;
    TN_REQUIRE(!__builtin_add_overflow(total.max(), shape[at].max(), &most),
               "[concatenate] expected fewer than 2^63 elements on axis {}, got more", axis);
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
