// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums, extremes and questions over axes.
#include <cmath>

#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/float_parts.hpp"
#include "frontend/tensor/sizes.hpp"

namespace tenon {
namespace {

Tensor is_set(const Tensor& x) { return x.dtype() == DType::kBool ? x : x != 0; }

void require_elements(const char* op, const Tensor& x, const std::vector<int>& axes) {
  const Dim count = count_over(x, axes);
  TN_REQUIRE(count.min() > 0, "[{}] expected at least one element to reduce, got {}", op,
             count.is_const() ? "none" : to_string(count) + ", which may be 0");
}

/// The largest one where it is finite, else 0: what may be taken from exponents.
Tensor finite_max(const Tensor& x, const std::vector<int>& axes) {
  const Tensor most = x.max(axes, /*keepdims=*/true);
  return where(isfinite(most), most, 0);
}

/// Larger x for smaller ones.
Tensor reversed(const Tensor& x) {
  if (is_float(x.dtype())) return -x;
  return x ^ constant_like(x, is_signed(x.dtype())
                                  ? Number(-1)
                                  : Number(~uint64_t{0} >> (64 - dtype_bits(x.dtype()))));
}

/// Positions along an axis that has elements.
Tensor first_largest(const Tensor& x, int axis, bool keepdims) {
  // The first of equals has the largest extent - position. NaN counts as the largest, as in NumPy.
  const Dim& extent = dims_of(x)[static_cast<size_t>(axis)];
  Tensor position = positions(x, axis);
  if (extent.max() <= INT32_MAX) position = position.astype(DType::kI32);  // twice the lanes
  Tensor is_best = x == x.max(axis, /*keepdims=*/true);
  if (is_float(x.dtype())) is_best = is_best | is_nan(x);
  const Tensor rank_from_end = count_as(position, extent) - position;
  const Tensor best = where(is_best, rank_from_end, constant_like(position, 0)).max(axis, keepdims);
  return rounded(count_as(best, extent) - best, DType::kI64);
}

Tensor arg_extreme(const char* op, const Tensor& x, const Axes& axis, bool keepdims, bool least) {
  const std::optional<int> at = one_axis(op, axis, x.rank());
  const Dim extent = at ? count_over(x, {*at}) : product(dims_of(x));
  TN_REQUIRE(extent.min() > 0 || at, "[{}] expected at least one element, got {}", op,
             extent.is_const() ? "none" : to_string(extent) + ", which may be 0");
  TN_REQUIRE(extent.min() > 0, "[{}] expected a non-empty axis, got size {} on axis {}", op,
             extent.is_const() ? "0" : to_string(extent) + ", which may be 0,", *at);
  const Tensor numbers = x.dtype() == DType::kBool ? x.astype(DType::kU8) : x;
  const Tensor ordered = least ? reversed(numbers) : numbers;
  if (at) return first_largest(ordered, *at, keepdims);
  const Tensor found = first_largest(ordered.ravel(), 0, /*keepdims=*/false);
  return keepdims ? found.reshape(std::vector<int64_t>(static_cast<size_t>(x.rank()), 1)) : found;
}

}  // namespace

Tensor any(const Tensor& x, const Axes& axis, bool keepdims) {
  return is_set(x).sum(normalise_axes("any", axis, x.rank()), keepdims, DType::kBool);
}
Tensor all(const Tensor& x, const Axes& axis, bool keepdims) {
  return is_set(x).prod(normalise_axes("all", axis, x.rank()), keepdims, DType::kBool);
}
Tensor count_nonzero(const Tensor& x, const Axes& axis, bool keepdims) {
  return is_set(x).sum(normalise_axes("count_nonzero", axis, x.rank()), keepdims);
}

Tensor argmax(const Tensor& x, const Axes& axis, bool keepdims) {
  return arg_extreme("argmax", x, axis, keepdims, /*least=*/false);
}
Tensor argmin(const Tensor& x, const Axes& axis, bool keepdims) {
  return arg_extreme("argmin", x, axis, keepdims, /*least=*/true);
}

Tensor mean(const Tensor& x, const Axes& axis, bool keepdims) {
  const std::vector<int> axes = normalise_axes("mean", axis, x.rank());
  const Tensor total = as_real(x).sum(axes, keepdims);
  return rounded(total / count_as(total, count_over(x, axes)), real_dtype(x));
}

Tensor var(const Tensor& x, const Axes& axis, bool keepdims, double ddof) {
  const std::vector<int> axes = normalise_axes("var", axis, x.rank());
  TN_REQUIRE(std::isfinite(ddof), "[var] expected a finite ddof, got {}", ddof);
  if (x.rank() == 0) return var(x.reshape({1}), {0}, false, ddof);
  const Tensor wide = as_real(x);
  const Tensor squares = (wide - wide.mean(axes, /*keepdims=*/true)).square().sum(axes, keepdims);
  const Dim count = count_over(x, axes);
  if (count.is_const()) {
    const double degrees = std::max(static_cast<double>(count.value()) - ddof, 0.0);
    return rounded(squares / degrees, real_dtype(x));
  }
  const Tensor degrees = count_as(squares, count) - ddof;
  return rounded(squares / degrees.maximum(constant_like(degrees, 0)), real_dtype(x));
}

Tensor stddev(const Tensor& x, const Axes& axis, bool keepdims, double ddof) {
  const Tensor square = as_op("stddev", [&] { return var(as_real(x), axis, keepdims, ddof); });
  const Tensor none = square == 0;  // there its gradient is 0
  return rounded(where(none, 0, where(none, 1, square).sqrt()), real_dtype(x));
}

Tensor ptp(const Tensor& x, const Axes& axis, bool keepdims) {
  const std::vector<int> axes = normalise_axes("ptp", axis, x.rank());
  require_elements("ptp", x, axes);
  TN_REQUIRE(x.dtype() != DType::kBool, "[ptp] expected numbers, got bool");
  if (x.rank() == 0) return x - x;  // NOLINT(misc-redundant-expression): NaN for infinity
  return x.max(axes, keepdims) - x.min(axes, keepdims);
}

Tensor norm(const Tensor& x, double p, const Axes& axis, bool keepdims) {
  TN_REQUIRE(!std::isnan(p), "[norm] expected an order p, got NaN");
  const std::vector<int> axes = normalise_axes("norm", axis, x.rank());
  if (!(p > 0 && std::isfinite(p))) require_elements("norm", x, axes);
  const DType dtype = real_dtype(x);
  if (x.rank() == 0) return norm(x.reshape({1}), p, {0}, false);
  const Tensor wide = as_real(x), size = wide.abs();
  if (std::isinf(p))
    return rounded(p > 0 ? size.max(axes, keepdims) : size.min(axes, keepdims), dtype);
  if (p == 0) return rounded((size != 0).astype(size.dtype()).sum(axes, keepdims), dtype);
  if (p == 1) return rounded(size.sum(axes, keepdims), dtype);
  const auto value = [&](const Tensor& v) {
    const Tensor of = v.abs();
    // What decides: the largest, and of negative powers the smallest.
    const Scale scale =
        power_scale(p > 0 ? of.max(axes, /*keepdims=*/true) : of.min(axes, /*keepdims=*/true));
    return (of * scale.down).pow(p).sum(axes, /*keepdims=*/true).pow(1 / p) * scale.up;
  };
  // Roots and broken powers have no finite slope at 0: there it is 0.
  const auto gradient = [&](const Tensor& v, const Tensor& y, const Tensor& g) {
    const Tensor none = (v == 0) | (y == 0);
    const Tensor share = where(none, 1, v.abs()) / where(none, 1, y);
    return where(none, 0, g * copysign(p == 2 ? share : share.pow(p - 1), v));
  };
  const Tensor result = with_gradient("norm", wide, value, gradient);
  return rounded(keepdims ? result : drop_axes(result, axes), dtype);
}

Tensor logsumexp(const Tensor& x, const Axes& axis, bool keepdims) {
  const std::vector<int> axes = normalise_axes("logsumexp", axis, x.rank());
  const Tensor wide = as_real(x);
  const DType dtype = real_dtype(x);
  if (x.rank() == 0) return rounded(wide, dtype);
  const auto value = [&axes](const Tensor& v) {
    const Tensor most = finite_max(v, axes);
    return (v - most).exp().sum(axes, /*keepdims=*/true).log() + most;
  };
  // Not e^(x - y): the rounding of y counts there. Of nothing but -Inf each one's part is 0.
  const auto gradient = [&axes](const Tensor& v, const Tensor& /*y*/, const Tensor& g) {
    const Tensor powers = (v - finite_max(v, axes)).exp();
    const Tensor total = powers.sum(axes, /*keepdims=*/true);
    return powers * (g / where(total == 0, 1, total));
  };
  const Tensor result = with_gradient("logsumexp", wide, value, gradient);
  return rounded(keepdims ? result : drop_axes(result, axes), dtype);
}

Tensor log_softmax(const Tensor& x, const Axes& axis) {
  const std::vector<int> axes = normalise_axes("log_softmax", axis, x.rank());
  const Tensor wide = as_real(x);
  const auto value = [&axes](const Tensor& v) {
    const Tensor centred = v - v.max(axes, /*keepdims=*/true);
    return centred - centred.exp().sum(axes, /*keepdims=*/true).log();
  };
  // By the powers that the sum is of: a kernel that does both computes them once.
  const auto gradient = [&axes](const Tensor& v, const Tensor& /*y*/, const Tensor& g) {
    const Tensor powers = (v - v.max(axes, /*keepdims=*/true)).exp();
    return g - powers * (g.sum(axes, /*keepdims=*/true) / powers.sum(axes, /*keepdims=*/true));
  };
  return rounded(with_gradient("log_softmax", wide, value, gradient), real_dtype(x));
}

}  // namespace tenon
