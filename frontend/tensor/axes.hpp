// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compositions along axes are written with. Internal to the library.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/make.hpp"

namespace tenon {

/// Throws kInvalid for a rank that leaves no room for `more` axes, which a function works with.
inline void check_room(const char* op, const Tensor& x, int more) {
  const int most = static_cast<int>(kMaxRank) - more;
  TN_REQUIRE(x.rank() <= most, "[{}] expected a rank of at most {}, got {}", op, most, x.rank());
}

/// Positions along an axis of x's shape, i64.
inline Tensor positions(const Tensor& x, int axis) {
  return make_tensor(x.context(),
                     builder_of(x).index(normalise_axis("positions", axis, x.rank()), dims_of(x)));
}

/// 0, 1, .. n - 1 as i64, in x's context.
inline Tensor counting(const Tensor& x, const Size& n) {
  return arange(n, DType::kI64, x.context());
}

/// Zeros, or another number, in x's context.
inline Tensor filled(const Tensor& x, const Sizes& shape, Number value, DType dtype) {
  return full(shape, value, dtype, x.context());
}

/// (end - begin) / steps, where the difference is beyond f64 too.
inline double step_of(double begin, double end, int64_t steps) {
  const auto n = static_cast<double>(steps);
  return std::isfinite(end - begin) ? (end - begin) / n : end / n - begin / n;
}

/// Takes out axes of size 1.
inline Tensor drop_axes(const Tensor& kept, const std::vector<int>& axes) {
  Shape shape;
  for (int axis = 0; axis < kept.rank(); ++axis)
    if (std::ranges::find(axes, axis) == axes.end())
      shape.push_back(dims_of(kept)[static_cast<size_t>(axis)]);
  return make_tensor(kept.context(), builder_of(kept).reshape(node_of(kept), std::move(shape)));
}

inline Tensor axis_to_last(const Tensor& x, int axis) {
  std::vector<int> axes(static_cast<size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin() + axis);
  axes.push_back(axis);
  return x.transpose(std::move(axes));
}

inline Tensor last_to_axis(const Tensor& x, int axis) {
  std::vector<int> axes(static_cast<size_t>(x.rank()) - 1);
  std::iota(axes.begin(), axes.end(), 0);
  axes.insert(axes.begin() + axis, x.rank() - 1);
  return x.transpose(std::move(axes));
}

/// A part of the last axis.
inline Tensor part_of_last(const Tensor& x, const Size& begin, const Size& end) {
  std::vector<Slice> ranges(static_cast<size_t>(x.rank()));
  ranges.back() = Slice{begin, end};
  return x.slice(std::move(ranges));
}

/// The dtype that a function of real numbers of x has.
inline DType real_dtype(const Tensor& x) { return is_float(x.dtype()) ? x.dtype() : DType::kF32; }
/// The dtype that sums and products have, as in NumPy: integers below 64 bits and bools are
/// counted.
inline DType total_dtype(const Tensor& x) {
  const DType dtype = x.dtype();
  if (is_float(dtype)) return dtype;
  return dtype == DType::kBool || is_signed(dtype) ? DType::kI64 : DType::kU64;
}
/// In f32 or f64, for what is rounded once at its end.
inline Tensor as_real(const Tensor& x) {
  return x.dtype() == DType::kF64 || x.dtype() == DType::kF32 ? x : x.astype(DType::kF32);
}
inline Tensor rounded(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : x.astype(dtype);
}

/// Positions as i64. Numbers of u64 that it does not hold lie beyond every end, as they did.
inline Tensor as_positions(const Tensor& index) {
  return rounded(index.dtype() == DType::kU64 ? index.minimum(INT64_MAX) : index, DType::kI64);
}

inline Tensor is_nan(const Tensor& x) { return x != x; }  // NOLINT

/// The smallest k with 2^k >= n.
inline int ceil_log2(int64_t n) {
  return n <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<uint64_t>(n - 1)));
}

}  // namespace tenon
