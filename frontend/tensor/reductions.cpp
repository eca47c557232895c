// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums, extremes and questions over axes.
#include <cmath>

#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/formula.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/logic.hpp"
#include "tenon/reduce.hpp"

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
  const Tensor most = x.max(axes, /*keep=*/true);
  return Tensor::where(isfinite(most), most, 0);
}

/// Larger x for smaller ones.
Tensor reversed(const Tensor& x) {
  if (is_float(x.dtype())) return -x;
  return x ^ constant_like(x, is_signed(x.dtype())
                                  ? Number(-1)
                                  : Number(~uint64_t{0} >> (64 - dtype_bits(x.dtype()))));
}

Tensor arg_extreme(const char* op, const Tensor& x, std::optional<int> axis, bool keep,
                   bool least) {
  const int at = axis ? normalise_axis(op, *axis, x.rank()) : 0;
  const Dim extent = axis ? count_over(x, {at}) : product(dims_of(x));
  TN_REQUIRE(extent.min() > 0 || axis, "[{}] expected at least one element, got {}", op,
             extent.is_const() ? "none" : to_string(extent) + ", which may be 0");
  TN_REQUIRE(extent.min() > 0, "[{}] expected a non-empty axis, got size {} on axis {}", op,
             extent.is_const() ? "0" : to_string(extent) + ", which may be 0,", at);
  Tensor values = x.dtype() == DType::kBool ? x.cast(DType::kU8) : x;
  if (least) values = reversed(values);
  if (axis) return values.argmax(at, keep);
  const Tensor found = values.flatten().argmax(0);
  return keep ? found.reshape(std::vector<int64_t>(static_cast<size_t>(x.rank()), 1)) : found;
}

}  // namespace

Tensor any(const Tensor& x, std::vector<int> axes, bool keep) {
  return is_set(x).sum(normalise_axes("any", axes, x.rank()), keep);  // + of bools is or
}
Tensor all(const Tensor& x, std::vector<int> axes, bool keep) {
  return is_set(x).prod(normalise_axes("all", axes, x.rank()), keep);
}
Tensor count_nonzero(const Tensor& x, std::vector<int> axes, bool keep) {
  return is_set(x).cast(DType::kI64).sum(normalise_axes("count_nonzero", axes, x.rank()), keep);
}

Tensor argmax(const Tensor& x, std::optional<int> axis, bool keep) {
  return arg_extreme("argmax", x, axis, keep, /*least=*/false);
}
Tensor argmin(const Tensor& x, std::optional<int> axis, bool keep) {
  return arg_extreme("argmin", x, axis, keep, /*least=*/true);
}

Tensor mean(const Tensor& x, std::vector<int> axes, bool keep) {
  return rounded(as_real(x).mean(std::move(axes), keep), real_dtype(x));
}

Tensor var(const Tensor& x, std::vector<int> axes, bool keep, double ddof) {
  axes = normalise_axes("var", axes, x.rank());
  TN_REQUIRE(std::isfinite(ddof), "[var] expected a finite ddof, got {}", ddof);
  if (x.rank() == 0) return var(x.reshape({1}), {0}, false, ddof);
  const Tensor wide = as_real(x);
  const Tensor squares = (wide - wide.mean(axes, /*keep=*/true)).square().sum(axes, keep);
  const Dim count = count_over(x, axes);
  if (count.is_const()) {
    const double degrees = std::max(static_cast<double>(count.value()) - ddof, 0.0);
    return rounded(squares / degrees, real_dtype(x));
  }
  const Tensor degrees = count_as(squares, count) - ddof;
  return rounded(squares / degrees.maximum(constant_like(degrees, 0)), real_dtype(x));
}

Tensor stddev(const Tensor& x, std::vector<int> axes, bool keep, double ddof) {
  const Tensor square = var(as_real(x), std::move(axes), keep, ddof);
  const Tensor none = square == 0;  // there its gradient is 0
  return rounded(Tensor::where(none, 0, Tensor::where(none, 1, square).sqrt()), real_dtype(x));
}

Tensor ptp(const Tensor& x, std::vector<int> axes, bool keep) {
  axes = normalise_axes("ptp", axes, x.rank());
  require_elements("ptp", x, axes);
  TN_REQUIRE(x.dtype() != DType::kBool, "[ptp] expected numbers, got bool");
  if (x.rank() == 0) return x - x;  // NOLINT(misc-redundant-expression): NaN for infinity
  return x.max(axes, keep) - x.min(axes, keep);
}

Tensor norm(const Tensor& x, double p, std::vector<int> axes, bool keep) {
  TN_REQUIRE(!std::isnan(p), "[norm] expected an order p, got NaN");
  axes = normalise_axes("norm", axes, x.rank());
  if (!(p > 0 && std::isfinite(p))) require_elements("norm", x, axes);
  const DType dtype = real_dtype(x);
  if (x.rank() == 0) return norm(x.reshape({1}), p, {0}, false);
  const Tensor size = as_real(x).abs();
  if (std::isinf(p)) return rounded(p > 0 ? size.max(axes, keep) : size.min(axes, keep), dtype);
  if (p == 0) return rounded((size != 0).cast(size.dtype()).sum(axes, keep), dtype);
  if (p == 1) return rounded(size.sum(axes, keep), dtype);
  // Roots and broken powers have no finite slope at 0: that branch takes another number.
  const Tensor none = size == 0;
  const bool whole = p > 0 && p == std::floor(p);
  const Tensor powers =
      whole ? size.pow(p)
            : Tensor::where(none, p > 0 ? 0.0 : INFINITY, Tensor::where(none, 1, size).pow(p));
  const Tensor total = powers.sum(axes, keep);
  const Tensor empty = total == 0;
  return rounded(
      Tensor::where(empty, p > 0 ? 0.0 : INFINITY, Tensor::where(empty, 1, total).pow(1 / p)),
      dtype);
}

Tensor logsumexp(const Tensor& x, std::vector<int> axes, bool keep) {
  axes = normalise_axes("logsumexp", axes, x.rank());
  const Tensor wide = as_real(x);
  const DType dtype = real_dtype(x);
  if (x.rank() == 0) return rounded(wide, dtype);
  const auto value = [&axes](const Tensor& v) {
    const Tensor most = finite_max(v, axes);
    return (v - most).exp().sum(axes, /*keep=*/true).log() + most;
  };
  const auto gradient = [](const Tensor& v, const Tensor& y, const Tensor& g) {
    // Of nothing but -Inf each one's part is 0.
    return g * (v - Tensor::where(isfinite(y), y, 0)).exp();
  };
  const Tensor result = with_gradient("logsumexp", wide, value, gradient);
  return rounded(keep ? result : drop_axes(result, axes), dtype);
}

Tensor log_softmax(const Tensor& x, std::vector<int> axes) {
  axes = normalise_axes("log_softmax", axes, x.rank());
  const Tensor wide = as_real(x);
  const auto value = [&axes](const Tensor& v) {
    const Tensor centred = v - v.max(axes, /*keep=*/true);
    return centred - centred.exp().sum(axes, /*keep=*/true).log();
  };
  // By the powers that the sum is of: a kernel that does both computes them once.
  const auto gradient = [&axes](const Tensor& v, const Tensor& /*y*/, const Tensor& g) {
    const Tensor powers = (v - v.max(axes, /*keep=*/true)).exp();
    return g - powers * (g.sum(axes, /*keep=*/true) / powers.sum(axes, /*keep=*/true));
  };
  return rounded(with_gradient("log_softmax", wide, value, gradient), real_dtype(x));
}

}  // namespace tenon
