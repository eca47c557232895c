// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Searching in sorted tensors, counting, and results whose size depends on values.
#include <cmath>

#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/sort.hpp"

namespace tenon {
namespace {

/// Edges are made before a device has them.
constexpr int64_t kMaxBins = int64_t{1} << 26;

/// a comes before b in the order of sort.
Tensor comes_before(const Tensor& a, const Tensor& b) {
  return is_float(a.dtype()) ? (a < b) | (is_nan(b) & (is_nan(a) == false)) : a < b;
}

void require_integers(const char* op, const Tensor& x) {
  TN_REQUIRE(is_int(x.dtype()), "[{}] expected integers, got {}", op, dtype_name(x.dtype()));
}

/// What is read back: running it is what a size costs.
int64_t read_count(const Tensor& count) { return count.item<int64_t>(); }

/// Flat positions of a mask's true elements, in order; reads back how many there are.
Tensor true_positions(const Tensor& mask) {
  const Tensor flat = mask.ravel();
  const Dim& size = dims_of(flat)[0];
  if (size.max() == 0) return filled(mask, {0}, 0, DType::kI64);
  const Tensor place = cumsum(flat, 0);
  realize({place});
  const int64_t count = read_count(place.take(-1, 0));
  const Tensor to = where(flat, place - 1, -1);
  return filled(mask, {count}, 0, DType::kI64).scatter(0, to, counting(mask, size_of(size)));
}

}  // namespace

Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right) {
  TN_REQUIRE(sorted.rank() == 1, "[searchsorted] expected a sorted tensor of rank 1, got rank {}",
             sorted.rank());
  TN_REQUIRE(sorted.dtype() == values.dtype() || !values.state()->context.is_set(),
             "[searchsorted] expected values of {}, got {}", dtype_name(sorted.dtype()),
             dtype_name(values.dtype()));
  const Dim& extent = dims_of(sorted)[0];
  const Tensor flat = values.ravel();
  Tensor place = filled(sorted, flat.sizes(), 0, DType::kI64);
  const Tensor count = count_as(place, extent), last = count_as(place, max(extent - 1, Dim(0)));
  for (int bit = ceil_log2(extent.max() + 1); bit-- > 0;) {
    const Tensor next = place + (int64_t{1} << bit);
    const Tensor probe = sorted.take((next - 1).minimum(last), 0);
    const Tensor goes_on = right ? comes_before(flat, probe) == false : comes_before(probe, flat);
    place = where((next <= count) & goes_on, next, place);
  }
  return place.reshape(values.sizes());
}

Tensor bincount(const Tensor& x, int64_t length, const Tensor& weights) {
  require_integers("bincount", x);
  TN_REQUIRE(length >= 0, "[bincount] expected a length of at least 0, got {}", length);
  TN_REQUIRE(same_shape(dims_of(weights), dims_of(x)),
             "[bincount] expected a weight for each of {} integers, got {}",
             to_string(product(dims_of(x))), to_string(product(dims_of(weights))));
  return filled(x, {length}, 0, weights.dtype())
      .scatter_add(0, as_positions(x.ravel()), weights.ravel());
}

Tensor bincount(const Tensor& x, int64_t length) {
  return bincount(x, length, filled(x, x.sizes(), 1, DType::kI64));
}

Tensor bincount(const Tensor& x) {
  require_integers("bincount", x);
  if (product(dims_of(x)).is_const(0)) return bincount(x, 0);
  const Tensor wide = as_positions(x);
  const Tensor least = wide.min(), most = wide.max();
  realize({least, most});
  TN_REQUIRE(read_count(least) >= 0, "[bincount] expected integers of at least 0, got {}",
             read_count(least));
  TN_REQUIRE(read_count(most) < INT64_MAX,
             "[bincount] expected integers below 2^63 - 1, got one that is not");
  return bincount(x, read_count(most) + 1);
}

Histogram histogram(const Tensor& x, int64_t bins, double low, double high) {
  TN_REQUIRE(0 < bins && bins <= kMaxBins, "[histogram] expected 1 to {} bins, got {}", kMaxBins,
             bins);
  TN_REQUIRE(std::isfinite(low) && std::isfinite(high) && low < high,
             "[histogram] expected finite edges, the lower first, got {} and {}", low, high);
  const Tensor values = as_real(x).ravel();
  const bool is_wide = values.dtype() == DType::kF64;
  TN_REQUIRE(is_wide || (std::isfinite(static_cast<float>(low)) &&
                         std::isfinite(static_cast<float>(high)) &&
                         static_cast<float>(low) < static_cast<float>(high)),
             "[histogram] expected edges that differ and are finite in f32, got {} and {}", low,
             high);
  const double step = step_of(low, high, bins);
  std::vector<double> at;
  for (int64_t i = 0; i <= bins; ++i) {
    at.push_back(i == bins ? high : low + static_cast<double>(i) * step);
  }
  Tensor edges = tensor(at, {bins + 1}, x.context());
  if (!is_wide) {  // rounded here: a device may have no f64
    const std::vector<float> narrow(at.begin(), at.end());
    edges = tensor(narrow, {bins + 1}, x.context());
  }
  const Tensor after = searchsorted(edges, values, /*right=*/true) - 1;
  const Tensor last = edges.take(bins, 0);
  const Tensor bin = where(values == last, bins - 1, after);
  const Tensor outside = is_nan(values) | (values > last);
  return {bincount(where(outside, -1, bin), bins), edges};
}

Unique unique(const Tensor& x) {
  const Tensor flat = x.ravel();
  const Size size = size_of(dims_of(flat)[0]);
  if (size.maximum() == 0) {
    const Tensor none = filled(x, {0}, 0, DType::kI64);
    return {flat, none, none.reshape(x.sizes()), none};
  }
  const Tensor order = argsort(flat, 0), sorted = flat.take(order, 0);
  const Tensor left = part_of_last(sorted, 0, size - 1), here = part_of_last(sorted, 1, size);
  const Tensor differs = comes_before(left, here);
  const Tensor group = cumsum(differs.pad({{1, 0}}, true), 0) - 1;
  realize({order, sorted, group});
  const int64_t count = read_count(group.take(-1, 0)) + 1;
  const Tensor begins = where(differs.pad({{1, 0}}, true), group, -1);
  const Tensor indices = filled(x, {count}, 0, DType::kI64).scatter(0, begins, order);
  const Tensor inverse = filled(x, {size}, 0, DType::kI64).scatter(0, order, group);
  return {flat.take(indices, 0), indices, inverse.reshape(x.sizes()), bincount(group, count)};
}

std::vector<Tensor> nonzero(const Tensor& x) {
  TN_REQUIRE(x.rank() > 0, "[nonzero] expected a tensor of rank 1 or more, got rank 0");
  const Tensor flat = true_positions(x.dtype() == DType::kBool ? x : x != 0);
  std::vector<Tensor> places(static_cast<size_t>(x.rank()), flat);
  Dim stride(1);
  for (int axis = x.rank(); axis-- > 0;) {
    const Dim extent = max(dims_of(x)[static_cast<size_t>(axis)], Dim(1));
    places[static_cast<size_t>(axis)] = flat / count_as(flat, stride) % count_as(flat, extent);
    stride = stride * extent;
  }
  return places;
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  TN_REQUIRE(mask.dtype() == DType::kBool, "[masked_select] expected a mask of bool, got {}",
             dtype_name(mask.dtype()));
  const Sizes shape = to_sizes(broadcast_shapes("masked_select", dims_of(x), dims_of(mask)));
  return x.broadcast_to(shape).ravel().take(true_positions(mask.broadcast_to(shape)), 0);
}

}  // namespace tenon
