// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brackets: views for what is regular, then one gather for all index tensors together.
#include "tenon/index.hpp"

#include <optional>

#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/sort.hpp"

namespace tenon {
namespace {

/// An index tensor and the axis that it reads.
struct Lookup {
  int axis = 0;
  Tensor at;
};

bool is_mask(const Tensor& at) { return at.dtype() == DType::kBool; }

template <class T>
const T* part(const Index& index) {
  return std::get_if<T>(&index.value());
}

/// Axes of x that one index stands for.
int axes_of(const Index& index) {
  if (part<Ellipsis>(index) || part<NewAxis>(index)) return 0;
  const auto* at = part<Tensor>(index);
  return at && is_mask(*at) ? at->rank() : 1;
}

/// The ends of a slice that reach beyond the axis are cut, as Python's are.
Slice cut(const Slice& range, const Dim& size) {
  TN_REQUIRE(range.step != 0 && range.step != INT64_MIN,
             "[index] expected a slice with a step that is not 0, got {}", range.step);
  // Below 0 it counts from the end: a symbolic one where its bounds say so.
  const auto inside = [&](const std::optional<Size>& end, const Dim& least, const Dim& most,
                          const Dim& otherwise) {
    if (!end) return otherwise;
    const Dim at = dim_of(*end);
    return min(max(at.max() < 0 ? at + size : at, least), most);
  };
  if (range.step > 0) {
    const Dim begin = inside(range.begin, 0, size, 0);
    return {size_of(begin), size_of(max(begin, inside(range.end, 0, size, size))), range.step};
  }
  // Read backwards from `begin`; there may be nothing before it.
  const Dim last = size - 1, begin = inside(range.begin, -1, last, last),
            end = inside(range.end, -1, last, -1);
  if (at_most(begin, end)) return {0, 0, 1};
  return {size_of(begin), end.is_const(-1) ? std::nullopt : std::optional<Size>(size_of(end)),
          range.step};
}

/// What an index comes to: x as views leave it, and lookups on its axes.
class Brackets {
 public:
  Brackets(const Tensor& x, const std::vector<Index>& index) : result_(x) {
    int used = 0, ellipses = 0;
    for (const Index& one : index) {
      used += axes_of(one);
      ellipses += part<Ellipsis>(one) != nullptr;
      has_lookups_ = has_lookups_ || part<Tensor>(one);
    }
    TN_REQUIRE(ellipses <= 1, "[index] expected at most one ellipsis, got {}", ellipses);
    TN_REQUIRE(used <= x.rank(), "[index] expected at most {} indices, got {}", x.rank(), used);
    for (const Index& one : index) {
      if (part<Ellipsis>(one))
        axis_ += x.rank() - used;
      else
        apply(one);
      // Another kind of index between two lookups parts them.
      const bool looks_up = part<Tensor>(one) || (part<int64_t>(one) && has_lookups_);
      if (!looks_up && !lookups_.empty()) gap_ = true;
      if (looks_up && gap_) apart_ = true;
    }
  }

  Tensor result() const { return lookups_.empty() ? result_ : looked_up(); }

 private:
  void apply(const Index& one) {
    if (const auto* range = part<Slice>(one)) {
      std::vector<Slice> ranges(static_cast<size_t>(axis_) + 1);
      ranges.back() = cut(*range, size(axis_));
      result_ = result_.slice(std::move(ranges));
      ++axis_;
    } else if (part<NewAxis>(one)) {
      result_ = result_.expand_dims(axis_++);
    } else if (const auto* at = part<int64_t>(one)) {
      apply(*at);
    } else {
      apply(std::get<Tensor>(one.value()));
    }
  }

  void apply(int64_t at) {
    const Dim& extent = size(axis_);
    TN_REQUIRE(-extent.min() <= at && at < extent.min(),
               "[index] expected an index in [{}, {}) on axis {}, got {}", to_string(-extent),
               to_string(extent), axis_, at);
    if (has_lookups_)
      lookups_.push_back({axis_++, filled(result_, {}, at, DType::kI64)});
    else
      result_ = result_.take(at, axis_);
  }

  void apply(const Tensor& at) {
    if (!is_mask(at)) {
      TN_REQUIRE(is_int(at.dtype()), "[index] expected an index of integers or bools, got {}",
                 dtype_name(at.dtype()));
      lookups_.push_back({axis_++, as_positions(at)});
      return;
    }
    TN_REQUIRE(at.rank() > 0, "[index] expected a mask of rank 1 or more, got rank 0");
    for (int i = 0; i < at.rank(); ++i)
      TN_REQUIRE(dims_of(at)[static_cast<size_t>(i)] == size(axis_ + i),
                 "[index] expected a mask with size {} for axis {}, got {}",
                 to_string(size(axis_ + i)), axis_ + i, to_string(dims_of(at)));
    for (const Tensor& places : nonzero(at)) lookups_.push_back({axis_++, places});
  }

  /// One gather along an axis that joins all that are looked up.
  Tensor looked_up() const {
    Shape found;
    std::vector<int> order, others;
    for (const Lookup& l : lookups_) {
      found = broadcast_shapes("index", found, dims_of(l.at));
      order.push_back(l.axis);
    }
    for (int axis = 0; axis < result_.rank(); ++axis)
      if (std::ranges::find(order, axis) == order.end()) others.push_back(axis);
    Shape rest, joined{Dim(1)};
    for (const int axis : others) rest.push_back(size(axis));
    Tensor place = filled(result_, to_sizes(found), 0, DType::kI64), outside = place != 0;
    for (const Lookup& l : lookups_) {
      const Tensor extent = count_as(l.at, size(l.axis));
      const Tensor at = where(l.at < 0, l.at + extent, l.at);
      outside = outside | (at < 0) | (at >= extent);
      place = place * extent + at;
      joined[0] = joined[0] * size(l.axis);
    }
    place = where(outside, -1, place);
    order.insert(order.end(), others.begin(), others.end());
    joined.insert(joined.end(), rest.begin(), rest.end());
    Tensor values = result_.transpose(order).reshape(to_sizes(joined)).take(place.ravel(), 0);
    Shape shape = found;
    shape.insert(shape.end(), rest.begin(), rest.end());
    values = values.reshape(to_sizes(shape));
    return apart_ ? values : moved(values, static_cast<int>(found.size()));
  }

  /// The axes that were found, from the front to where the first lookup stood.
  Tensor moved(const Tensor& values, int found) const {
    const int before = lookups_[0].axis;
    std::vector<int> axes;
    for (int axis = 0; axis < before; ++axis) axes.push_back(found + axis);
    for (int axis = 0; axis < found; ++axis) axes.push_back(axis);
    for (int axis = found + before; axis < values.rank(); ++axis) axes.push_back(axis);
    return values.transpose(std::move(axes));
  }

  const Dim& size(int axis) const { return dims_of(result_)[static_cast<size_t>(axis)]; }

  Tensor result_;
  int axis_ = 0;  ///< of `result_`, that the next index is for
  bool has_lookups_ = false, gap_ = false, apart_ = false;
  std::vector<Lookup> lookups_;
};

/// The mask of an index that is nothing else, with an axis of size 1 for each that it leaves.
std::optional<Tensor> lone_mask(const Tensor& x, const std::vector<Index>& index) {
  if (index.size() != 1) return std::nullopt;
  const auto* at = part<Tensor>(index[0]);
  if (!at || !is_mask(*at) || at->rank() == 0 || at->rank() > x.rank()) return std::nullopt;
  const Shape& whole = dims_of(x);
  Shape shape = dims_of(*at);
  if (!std::equal(shape.begin(), shape.end(), whole.begin())) return std::nullopt;
  shape.resize(whole.size(), Dim(1));
  return at->reshape(to_sizes(shape)).broadcast_to(x.sizes());
}

}  // namespace

Tensor get(const Tensor& x, const std::vector<Index>& index) {
  return as_op("get", [&] { return Brackets(x, index).result(); });
}

Tensor Tensor::operator[](const Index& index) const { return get(*this, {index}); }

Tensor Tensor::operator[](std::initializer_list<Index> index) const { return get(*this, index); }

namespace {

Tensor with_part(const Tensor& x, const std::vector<Index>& index, const Tensor& values,
                 Combine combine) {
  const bool number = !values.state()->context.is_set();
  const Tensor own = number ? full({}, *values.state()->number, x.dtype(), x.context()) : values;
  TN_REQUIRE(own.dtype() == x.dtype(), "[set] expected values of {}, got {}", dtype_name(x.dtype()),
             dtype_name(own.dtype()));
  const std::optional<Tensor> mask = lone_mask(x, index);
  if (mask && product(dims_of(own)).is_const(1) && combine == Combine::kReplace)
    return where(*mask, own.reshape({}), x);
  // Where the parts of x come from: the same brackets around its positions. 0 is nowhere.
  const Dim count = product(dims_of(x));
  const Tensor flat = counting(x, size_of(count)) + 1;
  const Tensor places = Brackets(flat.reshape(x.sizes()), index).result();
  const Shape& shape = dims_of(places);
  TN_REQUIRE(same_shape(broadcast_shapes("set", dims_of(own), shape), shape),
             "[set] expected values that broadcast to {}, got {}", to_string(shape),
             to_string(dims_of(own)));
  const Tensor at = places.ravel() - 1;
  // -1 would count from the end.
  const Tensor to = where(at < 0, count_as(at, count), at);
  return put_along_axis(x.ravel(), to, own.broadcast_to(places.sizes()).ravel(), 0, combine)
      .reshape(x.sizes());
}

}  // namespace

Tensor set(const Tensor& x, const std::vector<Index>& index, const Tensor& values,
           Combine combine) {
  return as_op("set", [&] { return with_part(x, index, values, combine); });
}

}  // namespace tenon
