// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/move.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/origin.hpp"
#include "frontend/tensor/sizes.hpp"
#include "frontend/tensor/tape.hpp"

namespace tenon {
namespace {

std::vector<int> all_axes(const Tensor& x) {
  std::vector<int> axes(static_cast<size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

/// [begin, end) of one axis.
Tensor part(const Tensor& x, int axis, const Size& begin, const Size& end) {
  std::vector<Slice> ranges(static_cast<size_t>(axis) + 1);
  ranges.back() = {begin, end};
  return x.slice(std::move(ranges));
}

/// -shift modulo an extent; 0 of none.
Dim begin_of_roll(int64_t shift, const Dim& extent) {
  if (extent.is_const()) {
    const int64_t size = std::max<int64_t>(extent.value(), 1);
    return (size - shift % size) % size;
  }
  return as_op("roll", [&] {
    const Dim begin = mod(-Dim(shift), max(extent, Dim(1)));
    return extent.min() > 0 ? begin : min(begin, extent);
  });
}

Tensor rolled(const Tensor& x, int64_t shift, int axis) {
  const Dim& extent = dims_of(x)[static_cast<size_t>(axis)];
  const Dim begin = begin_of_roll(shift, extent);
  if (begin.is_const(0)) return x;
  return concatenate(
      {part(x, axis, size_of(begin), size_of(extent)), part(x, axis, 0, size_of(begin))}, axis);
}

Tensor padded_axis(const Tensor& x, int axis, const Dim& before, const Dim& after, PadMode mode) {
  const Dim extent = dims_of(x)[static_cast<size_t>(axis)];
  std::vector<Tensor> parts;
  const auto add = [&](const Tensor& tensor) {
    if (!dims_of(tensor)[static_cast<size_t>(axis)].is_const(0)) parts.push_back(tensor);
  };
  const auto range = [&](const Dim& begin, const Dim& end) {
    return part(x, axis, size_of(begin), size_of(end));
  };
  const auto require = [&](const Dim& most) {
    TN_REQUIRE(
        before.min() >= 0 && after.min() >= 0 && at_most(before, most) && at_most(after, most),
        "[pad] expected sides in [0, {}] on axis {} of size {}, got {} and {}", to_string(most),
        axis, to_string(extent), to_string(before), to_string(after));
  };
  const Dim inner = max(extent - 1, Dim(0));  // without an edge
  switch (mode) {
    case PadMode::kReflect:
      require(inner);
      add(range(extent - inner, extent - inner + before).flip(axis));
      add(x);
      add(range(inner - after, inner).flip(axis));
      break;
    case PadMode::kReplicate: {
      require(extent.min() > 0 ? INT64_MAX / 4 : 0);
      const auto edge = [&](const Dim& at, const Dim& count) {
        if (count.is_const(0)) return;
        Shape shape = dims_of(x);
        shape[static_cast<size_t>(axis)] = count;
        add(range(at, at + 1).broadcast_to(to_sizes(shape)));
      };
      edge(0, before);
      add(x);
      edge(extent - 1, after);
      break;
    }
    case PadMode::kCircular:
      require(extent);
      add(range(extent - before, extent));
      add(x);
      add(range(0, after));
      break;
    default:
      fail(ErrorKind::kInvalid, "[pad] expected a mode of PadMode, got {}", static_cast<int>(mode));
  }
  return parts.size() <= 1 ? x : concatenate(parts, axis);
}

}  // namespace

Tensor stack(const std::vector<Tensor>& tensors, int axis) {
  TN_REQUIRE(!tensors.empty(), "[stack] expected at least one tensor, got none");
  axis = normalise_axis("stack", axis, tensors[0].rank() + 1);
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors) {
    TN_REQUIRE(same_shape(dims_of(tensor), dims_of(tensors[0])),
               "[stack] expected equal shapes, got {} and {}", to_string(dims_of(tensors[0])),
               to_string(dims_of(tensor)));
    parts.push_back(tensor.expand_dims(axis));
  }
  return concatenate(parts, axis);
}

Tensor vstack(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> rows;
  for (const Tensor& tensor : tensors) rows.push_back(atleast_nd(tensor, 2));
  return as_op("vstack", [&] { return concatenate(rows, 0); });
}

Tensor hstack(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors) parts.push_back(atleast_nd(tensor, 1));
  return as_op("hstack",
               [&] { return concatenate(parts, !parts.empty() && parts[0].rank() == 1 ? 0 : 1); });
}

std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int axis) {
  axis = normalise_axis("split", axis, x.rank());
  const int64_t extent = fixed_axis("split", x, axis);
  int64_t total = 0;
  const bool are_sizes = std::ranges::all_of(sizes, [&](int64_t size) {
    return size >= 0 && !__builtin_add_overflow(total, size, &total);
  });
  TN_REQUIRE(are_sizes && total == extent, "[split] expected sizes that add up to {}, got [{}]",
             extent, fmt::join(sizes, ", "));
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    parts.push_back(part(x, axis, begin, begin + size));
    begin += size;
  }
  return parts;
}

std::vector<Tensor> chunk(const Tensor& x, int64_t count, int axis) {
  axis = normalise_axis("chunk", axis, x.rank());
  TN_REQUIRE(count > 0, "[chunk] expected a count above 0, got {}", count);
  const int64_t extent = fixed_axis("chunk", x, axis),
                size = std::max<int64_t>(1, (extent + count - 1) / count);
  std::vector<int64_t> sizes;
  for (int64_t rest = extent; rest > 0; rest -= sizes.back()) sizes.push_back(std::min(rest, size));
  if (sizes.empty()) sizes.push_back(0);
  return split(x, sizes, axis);
}

Tensor tile(const Tensor& x, std::vector<int64_t> counts) {
  count_of("tile", counts);
  TN_REQUIRE(counts.size() <= kMaxRank, "[tile] expected at most {} counts, got {}", kMaxRank,
             counts.size());
  const Tensor whole = atleast_nd(x, static_cast<int>(counts.size()));
  counts.insert(counts.begin(), static_cast<size_t>(whole.rank()) - counts.size(), 1);
  check_room(
      "tile", whole,
      static_cast<int>(std::ranges::count_if(counts, [](int64_t count) { return count != 1; })));
  Shape single, repeated, joined;
  const Shape& shape = dims_of(whole);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (counts[axis] != 1) {
      single.emplace_back(1);
      repeated.emplace_back(counts[axis]);
    }
    single.push_back(shape[axis]);
    repeated.push_back(shape[axis]);
    check_count("tile", {Dim(counts[axis]), shape[axis]});
    joined.push_back(counts[axis] * shape[axis]);
  }
  return as_op("tile", [&] {
    return whole.reshape(to_sizes(single))
        .broadcast_to(to_sizes(repeated))
        .reshape(to_sizes(joined));
  });
}

Tensor repeat(const Tensor& x, int64_t count, int axis) {
  axis = normalise_axis("repeat", axis, x.rank());
  TN_REQUIRE(count >= 0, "[repeat] expected a count of at least 0, got {}", count);
  check_room("repeat", x, 1);
  Shape repeated = dims_of(x), joined = dims_of(x);
  repeated.insert(repeated.begin() + axis + 1, Dim(count));
  check_count("repeat", repeated);
  check_count("repeat", {Dim(count), dims_of(x)[static_cast<size_t>(axis)]});
  Dim& extent = joined[static_cast<size_t>(axis)];
  extent = extent * count;
  return as_op("repeat", [&] {
    return x.expand_dims(axis + 1).broadcast_to(to_sizes(repeated)).reshape(to_sizes(joined));
  });
}

Tensor roll(const Tensor& x, std::vector<int64_t> shifts, const Axes& axes) {
  TN_REQUIRE(!shifts.empty(), "[roll] expected at least one shift, got none");
  if (axes.empty() && shifts.size() == 1) return rolled(x.ravel(), shifts[0], 0).reshape(x.sizes());
  TN_REQUIRE(shifts.size() == axes.size(),
             "[roll] expected a shift for each axis or one without axes, got {} shifts and {} axes",
             shifts.size(), axes.size());
  Tensor result = x;
  for (size_t i = 0; i < axes.size(); ++i)
    result = rolled(result, shifts[i], normalise_axis("roll", axes[i], x.rank()));
  return result;
}

Tensor moveaxis(const Tensor& x, const Axes& from, const Axes& to) {
  TN_REQUIRE(from.size() == to.size(), "[moveaxis] expected as many places as axes, got {} and {}",
             to.size(), from.size());
  normalise_axes("moveaxis", from, x.rank());  // each once
  normalise_axes("moveaxis", to, x.rank());
  std::vector<int> order(static_cast<size_t>(x.rank()), -1), rest = all_axes(x);
  for (size_t i = 0; i < from.size(); ++i) {
    const int axis = normalise_axis("moveaxis", from[i], x.rank());
    order[static_cast<size_t>(normalise_axis("moveaxis", to[i], x.rank()))] = axis;
    std::erase(rest, axis);
  }
  auto next = rest.begin();
  for (int& axis : order)
    if (axis < 0) axis = *next++;
  return x.transpose(std::move(order));
}

Tensor rot90(const Tensor& x, int times, int from, int to) {
  from = normalise_axis("rot90", from, x.rank());
  to = normalise_axis("rot90", to, x.rank());
  TN_REQUIRE(from != to, "[rot90] expected two axes, got {} twice", from);
  switch ((times % 4 + 4) % 4) {
    case 1:
      return x.flip(to).swapaxes(from, to);
    case 2:
      return x.flip({from, to});
    case 3:
      return x.swapaxes(from, to).flip(to);
    default:
      return x;
  }
}

Tensor atleast_nd(const Tensor& x, int rank) {
  TN_REQUIRE(rank <= static_cast<int>(kMaxRank),
             "[atleast_nd] expected a rank of at most {}, got {}", kMaxRank, rank);
  Shape shape(static_cast<size_t>(std::max(rank, x.rank()) - x.rank()), Dim(1));
  shape.insert(shape.end(), dims_of(x).begin(), dims_of(x).end());
  return make_tensor(x.context(), builder_of(x).reshape(node_of(x), std::move(shape)));
}

Tensor as_strided(const Tensor& x, std::vector<int64_t> shape, std::vector<int64_t> strides,
                  int64_t offset) {
  TN_REQUIRE(shape.size() == strides.size(),
             "[as_strided] expected a stride for each of {} axes, got {}", shape.size(),
             strides.size());
  const bool empty = count_of("as_strided", shape) == 0;
  int64_t low = offset, high = offset;
  bool fits = true;
  for (size_t axis = 0; axis < shape.size() && !empty; ++axis) {
    int64_t way = 0;
    int64_t& end = strides[axis] < 0 ? low : high;
    fits = fits && !__builtin_mul_overflow(shape[axis] - 1, strides[axis], &way) &&
           !__builtin_add_overflow(end, way, &end);
  }
  const Dim elements = product(dims_of(x));
  TN_REQUIRE(empty || (fits && low >= 0 && high < elements.min()),
             "[as_strided] expected elements in [0, {}), got some outside with shape [{}], strides "
             "[{}] and offset {}",
             to_string(elements), fmt::join(shape, ", "), fmt::join(strides, ", "), offset);
  Builder& builder = builder_of(x);
  Tensor at = as_op("as_strided", [&] {
    return make_tensor(
        x.context(),
        builder.constant(Scalar::of_int(DType::kI64, empty ? 0 : offset), to_shape(shape)));
  });
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const NodeRef index = builder.index(static_cast<int>(axis), to_shape(shape));
    at = at + make_tensor(x.context(), index) * strides[axis];
  }
  return x.ravel().take(at.ravel(), 0).reshape(shape);
}

Tensor diagonal(const Tensor& x, int64_t offset, int axis1, int axis2) {
  axis1 = normalise_axis("diagonal", axis1, x.rank());
  axis2 = normalise_axis("diagonal", axis2, x.rank());
  TN_REQUIRE(axis1 != axis2, "[diagonal] expected two axes, got {} twice", axis1);
  const Tensor last = moveaxis(x, {axis1, axis2}, {-2, -1});
  const int rank = x.rank();
  Shape shape = dims_of(last);
  const Dim columns = shape[shape.size() - 1], rows = shape[shape.size() - 2];
  const Dim row = min(Dim(std::max<int64_t>(-std::max(offset, -INT64_MAX), 0)), rows);
  const Dim column = min(Dim(std::max<int64_t>(offset, 0)), columns);
  const Dim n = min(rows - row, columns - column);
  const Tensor square = part(part(last, rank - 2, size_of(row), size_of(row + n)), rank - 1,
                             size_of(column), size_of(column + n));
  // Rows one longer than the square's, laid over its elements, have the diagonal in front.
  shape.pop_back();
  shape.back() = n * n;
  std::vector<std::pair<Size, Size>> pairs(shape.size(), {0, 0});
  pairs.back().second = size_of(n);
  const Tensor flat = square.reshape(to_sizes(shape)).pad(std::move(pairs));
  shape.back() = n;
  shape.push_back(n + 1);
  return part(flat.reshape(to_sizes(shape)), rank - 1, 0, 1).squeeze(-1);
}

Tensor diag(const Tensor& x, int64_t offset) {
  TN_REQUIRE(x.rank() == 1 || x.rank() == 2, "[diag] expected a tensor of rank 1 or 2, got rank {}",
             x.rank());
  if (x.rank() == 2) return diagonal(x, offset);
  const Size n = size_of(dims_of(x)[0]);
  // The elements as a column, padded to rows one longer than the square's.
  const Tensor square =
      part(x.expand_dims(-1).pad({{0, 0}, {0, n}}).ravel(), 0, 0, n * n).reshape({n, n});
  const int64_t below = std::max<int64_t>(0, -std::max(offset, -INT64_MAX)),
                right = std::max<int64_t>(0, offset);
  return as_op("diag", [&] { return square.pad({{below, right}, {right, below}}); });
}

Tensor unfold(const Tensor& x, int axis, int64_t size, int64_t step) {
  axis = normalise_axis("unfold", axis, x.rank());
  const Dim extent = dims_of(x)[static_cast<size_t>(axis)];
  TN_REQUIRE(0 <= size && at_most(size, extent) && step > 0,
             "[unfold] expected windows of size 0 to {} and a step above 0, got {} and {}",
             to_string(extent), size, step);
  const Dim count = floor_div(extent - size, step) + 1;
  Builder& builder = builder_of(x);
  const auto index = [&](int of) {
    return make_tensor(x.context(), builder.index(of, Shape{count, Dim(size)}));
  };
  const Tensor windows = x.take((index(0) * step + index(1)).ravel(), axis);
  Shape shape = dims_of(x);
  shape[static_cast<size_t>(axis)] = count;
  shape.insert(shape.begin() + axis + 1, Dim(size));
  return as_op("unfold", [&] { return moveaxis(windows.reshape(to_sizes(shape)), axis + 1, -1); });
}

Tensor pad(const Tensor& x, const PadWidths& widths, PadMode mode) {
  TN_REQUIRE(widths.size() <= static_cast<size_t>(x.rank()),
             "[pad] expected at most {} pairs, got {}", x.rank(), widths.size());
  Tensor result = x;
  for (size_t axis = 0; axis < widths.size(); ++axis)
    result = padded_axis(result, static_cast<int>(axis), dim_of(widths[axis].first),
                         dim_of(widths[axis].second), mode);
  return result;
}

Tensor contiguous(const Tensor& x) {
  realize_for("contiguous", {x});
  return x;
}

Tensor copy(const Tensor& x) {
  realize_for("copy", {x});
  const BufferRef from = buffer_of(*node_of(x));
  BufferRef to = from->device().allocate(from->size(), "tensor");
  if (from->size() > 0) from->device().copy(*from, 0, *to, 0, from->size());
  const NodeRef node =
      buffer_node(x.context(), std::move(to), x.dtype(), node_of(x)->shape, symbols_of(*node_of(x)),
                  made_from("copy", builder_of(x), node_of(x),
                            /*has_gradient=*/true));
  if (Tape* const tape = Tape::current()) tape->hold({node_of(x)});
  return make_tensor(x.context(), node);
}

}  // namespace tenon
