// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantiles: a sort, and two neighbours for each.
#include <cmath>

#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "tenon/sort.hpp"

namespace tenon {
namespace {

/// The reduced axes as one last axis, and the shape of a result that keeps them.
struct Rows {
  Tensor values;
  std::vector<int64_t> shape;
};

Rows rows_of(const Tensor& x, const std::vector<int>& axes, bool keepdims) {
  std::vector<int> order;
  std::vector<int64_t> rows, shape;
  int64_t length = 1;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool reduced = std::ranges::find(axes, axis) != axes.end();
    if (reduced) length *= x.size(axis);
    if (!reduced) order.push_back(axis), rows.push_back(x.size(axis));
    if (!reduced || keepdims) shape.push_back(reduced ? 1 : x.size(axis));
  }
  order.insert(order.end(), axes.begin(), axes.end());
  rows.push_back(length);
  return {x.transpose(std::move(order)).reshape(std::move(rows)), std::move(shape)};
}

/// Of sorted rows without NaN.
Tensor at_quantile(const Tensor& sorted, double q, Quantile method) {
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
  const Tensor low = at(below), high = at(above), step = high - low;
  // From the nearer neighbour, but by shares where there is no step, and none between equals.
  const Tensor between = part < 0.5 ? low + step * part : high - step * (1 - part);
  const Tensor shares = low * (1 - part) + high * part;
  return where(low == high, low, where(isfinite(step), between, shares));
}

}  // namespace

Tensor quantile(const Tensor& x, const std::vector<double>& q, const Axes& axis, bool keepdims,
                Quantile method) {
  const std::vector<int> axes = normalise_axes("quantile", axis, x.rank());
  TN_REQUIRE(!q.empty(), "[quantile] expected at least one q, got none");
  for (const double one : q)
    TN_REQUIRE(one >= 0 && one <= 1, "[quantile] expected q in [0, 1], got {}", one);
  const Rows rows = rows_of(as_real(x), axes, keepdims);
  TN_REQUIRE(rows.values.size(-1) > 0,
             "[quantile] expected at least one element to reduce, got none");
  const Tensor sorted = sort(rows.values);
  // NaN stands last.
  const Tensor last = sorted.take(-1, -1);
  TN_REQUIRE(rows.shape.size() < kMaxRank,
             "[quantile] expected a result of at most {} axes, got {}", kMaxRank - 1,
             rows.shape.size());
  std::vector<Tensor> results;
  for (const double one : q) {
    const Tensor found = where(is_nan(last), last, at_quantile(sorted, one, method));
    results.push_back(rounded(found.reshape(rows.shape), real_dtype(x)).expand_dims(0));
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
