// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantiles: a sort, and two neighbours for each.
#include <cmath>

#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/sort.hpp"

namespace tenon {
namespace {

/// The reduced axes as one last axis, and the shape of a result that keeps them.
struct Rows {
  Tensor values;
  Shape shape;
};

Rows rows_of(const Tensor& x, const std::vector<int>& axes, bool keepdims) {
  std::vector<int> order;
  Shape rows, shape;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool reduced = std::ranges::find(axes, axis) != axes.end();
    const Dim& size = dims_of(x)[static_cast<size_t>(axis)];
    if (!reduced) order.push_back(axis), rows.push_back(size);
    if (!reduced || keepdims) shape.push_back(reduced ? Dim(1) : size);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  rows.push_back(count_over(x, axes));
  return {x.transpose(std::move(order)).reshape(to_sizes(rows)), std::move(shape)};
}

/// A part of the way from one neighbour to the next: from the nearer one, but by shares where there
/// is no step, and none between equals.
Tensor between(const Tensor& low, const Tensor& high, const Tensor& part) {
  const Tensor step = high - low;
  const Tensor inner = where(part < 0.5, low + step * part, high - step * (1 - part));
  const Tensor shares = low * (1 - part) + high * part;
  return where(low == high, low, where(isfinite(step), inner, shares));
}

/// Of sorted rows without NaN whose length is a symbol n: q (n - 1) as an integer of 2^-32, to the
/// nearest.
Tensor at_symbolic_quantile(const Tensor& sorted, double q, Quantile method) {
  const Dim& length = dims_of(sorted).back();
  TN_REQUIRE(length.max() < INT32_MAX, "[quantile] expected fewer than 2^31 elements, got {}",
             to_string(length));
  const double upper = std::floor(q * 0x1p32), lower = std::floor((q * 0x1p32 - upper) * 0x1p30);
  const Tensor last = from_size(size_of(length - 1), sorted.context());
  const Tensor place =
      last * static_cast<int64_t>(upper) +
      (last * static_cast<int64_t>(lower) + (int64_t{1} << 29)) / (int64_t{1} << 30);
  const int64_t one = int64_t{1} << 32;
  const Tensor below = place / one, rest = place - below * one;
  const auto at = [&](const Tensor& position) {
    return sorted.take(position.reshape({1}), -1).squeeze(-1);
  };
  const Tensor above = below + (rest != 0).astype(DType::kI64);
  switch (method) {
    case Quantile::kLower:
      return at(below);
    case Quantile::kHigher:
      return at(above);
    case Quantile::kNearest:
      return at(where((rest > one / 2) | ((rest == one / 2) & (below % 2 != 0)), above, below));
    case Quantile::kMidpoint:
      return between(at(below), at(above), (rest != 0).astype(sorted.dtype()) * 0.5);
    case Quantile::kLinear:
      break;
  }
  return between(at(below), at(above), rest.astype(sorted.dtype()) * 0x1p-32);
}

/// Of sorted rows without NaN.
Tensor at_quantile(const Tensor& sorted, double q, Quantile method) {
  if (!dims_of(sorted).back().is_const()) return at_symbolic_quantile(sorted, q, method);
  const double place = q * static_cast<double>(sorted.size(-1) - 1);
  const double below = std::floor(place), above = std::ceil(place);
  const auto at = [&](double position) { return sorted.take(static_cast<int64_t>(position), -1); };
  double part = place - below;
  switch (method) {
    case Quantile::kLower:
      return at(below);
    case Quantile::kHigher:
      return at(above);
    case Quantile::kNearest:
      return at(std::nearbyint(place));
    case Quantile::kMidpoint:
      part = part > 0 ? 0.5 : 0;
      break;
    case Quantile::kLinear:
      break;
  }
  if (part == 0) return at(below);
  const Tensor low = at(below);
  return between(low, at(above), constant_like(low, part));
}

}  // namespace

Tensor quantile(const Tensor& x, const std::vector<double>& q, const Axes& axis, bool keepdims,
                Quantile method) {
  const std::vector<int> axes = normalise_axes("quantile", axis, x.rank());
  TN_REQUIRE(!q.empty(), "[quantile] expected at least one q, got none");
  for (const double one : q)
    TN_REQUIRE(one >= 0 && one <= 1, "[quantile] expected q in [0, 1], got {}", one);
  const Rows rows = rows_of(as_real(x), axes, keepdims);
  const Dim& length = dims_of(rows.values).back();
  TN_REQUIRE(length.min() > 0, "[quantile] expected at least one element to reduce, got {}",
             length.is_const() ? "none" : to_string(length) + ", which may be 0");
  const Tensor sorted = sort(rows.values);
  // NaN stands last.
  const Tensor last = sorted.take(-1, -1);
  TN_REQUIRE(rows.shape.size() < kMaxRank,
             "[quantile] expected a result of at most {} axes, got {}", kMaxRank - 1,
             rows.shape.size());
  std::vector<Tensor> results;
  for (const double one : q) {
    const Tensor found = where(is_nan(last), last, at_quantile(sorted, one, method));
    results.push_back(rounded(found.reshape(to_sizes(rows.shape)), real_dtype(x)).expand_dims(0));
  }
  return concatenate(results, 0);
}

Tensor quantile(const Tensor& x, double q, const Axes& axis, bool keepdims, Quantile method) {
  return quantile(x, std::vector<double>{q}, axis, keepdims, method).squeeze(0);
}

Tensor quantile(const Tensor& x, std::initializer_list<double> q, const Axes& axis, bool keepdims,
                Quantile method) {
  return quantile(x, std::vector<double>(q), axis, keepdims, method);
}

Tensor median(const Tensor& x, const Axes& axis, bool keepdims) {
  return as_op("median", [&] { return quantile(x, 0.5, axis, keepdims); });
}

}  // namespace tenon
