// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements along an axis, by positions that may count from the end. STORE replaces and adds; for
// the rest runs of equal positions are combined first.
#include <fmt/ranges.h>

#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/index.hpp"
#include "tenon/sort.hpp"

namespace tenon {
namespace {

/// Positions as i64, those below zero counted from the end. Whatever is outside stays outside.
Tensor from_begin(const char* op, const Tensor& x, const Tensor& given, const Dim& extent) {
  const Tensor index =
      is_number(given) ? filled(x, {}, *given.state()->number, given.dtype()) : given;
  TN_REQUIRE(is_int(index.dtype()), "[{}] expected an index of integers, got {}", op,
             dtype_name(index.dtype()));
  if (!is_signed(index.dtype())) return as_positions(index);
  const Tensor at = index.astype(DType::kI64);
  const Tensor from_end = at + count_as(at, extent);
  return where(at < 0, where(from_end < 0, -1, from_end), at);
}

Tensor combined(Combine how, const Tensor& a, const Tensor& b) {
  if (how == Combine::kMul) return a * b;
  if (how == Combine::kMax) return a.maximum(b);
  return a.minimum(b);
}

/// Along the last axis.
Tensor scatter_runs(const Tensor& x, const Tensor& index, const Tensor& values, Combine how) {
  const Dim& count = dims_of(index).back();
  const Tensor order = argsort(index, -1);
  const Tensor at = index.gather(-1, order);
  Tensor run = values.gather(-1, order);
  std::vector<std::pair<int64_t, int64_t>> pairs(static_cast<size_t>(x.rank()), {0, 0});
  for (int64_t distance = 1; distance < count.max(); distance *= 2) {
    pairs.back() = {distance, 0};
    const auto earlier = [&](const Tensor& all) {
      return part_of_last(all.pad(pairs), 0, size_of(count));
    };
    const Tensor joins = (earlier(at) == at) & (positions(at, -1) >= distance);
    run = where(joins, combined(how, earlier(run), run), run);
  }
  // The last of a run holds all of it, and is the last that is stored.
  return x.scatter(-1, at, combined(how, x.gather(-1, at), run));
}

}  // namespace

Tensor take_along_axis(const Tensor& x, const Tensor& indices, int axis) {
  const int at = normalise_axis("take_along_axis", axis, x.rank());
  return as_op("take_along_axis", [&] {
    return x.gather(at, from_begin("take_along_axis", x, indices, count_over(x, {at})));
  });
}

Tensor put_along_axis(const Tensor& x, const Tensor& indices, const Tensor& values, int axis,
                      Combine combine) {
  const int at = normalise_axis("put_along_axis", axis, x.rank());
  TN_REQUIRE(same_shape(dims_of(indices), dims_of(values)),
             "[put_along_axis] expected indices of the values' shape {}, got {}",
             to_string(dims_of(values)), to_string(dims_of(indices)));
  TN_REQUIRE(x.dtype() == values.dtype(), "[put_along_axis] expected values of {}, got {}",
             dtype_name(x.dtype()), dtype_name(values.dtype()));
  const Tensor to = from_begin("put_along_axis", x, indices, count_over(x, {at}));
  if (product(dims_of(indices)).is_const(0) || product(dims_of(x)).is_const(0)) return x;
  const auto scattered = [&](const auto& f) { return as_op("put_along_axis", f); };
  switch (combine) {
    case Combine::kReplace:
      return scattered([&] { return x.scatter(at, to, values); });
    case Combine::kAdd:
      return scattered([&] { return x.scatter_add(at, to, values); });
    case Combine::kMean: {
      TN_REQUIRE(is_float(x.dtype()), "[put_along_axis] expected a float dtype for a mean, got {}",
                 dtype_name(x.dtype()));
      const Tensor wide = as_real(x), ones = constant_like(as_real(values), 1);
      const Tensor count = constant_like(wide, 1).scatter_add(at, to, ones);
      return rounded(wide.scatter_add(at, to, as_real(values)) / count, x.dtype());
    }
    case Combine::kMul:
    case Combine::kMax:
    case Combine::kMin:
      break;
    default:
      fail(ErrorKind::kInvalid, "[put_along_axis] expected one of Combine, got {}",
           static_cast<int>(combine));
  }
  return last_to_axis(
      scatter_runs(axis_to_last(x, at), axis_to_last(to, at), axis_to_last(values, at), combine),
      at);
}

}  // namespace tenon
