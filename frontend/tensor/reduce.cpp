// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums, products, extremes, and what is made of them.
#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/formula.hpp"
#include "frontend/tensor/sizes.hpp"

namespace tenon {
namespace {

Tensor reduce(const char* name, Op op, const Tensor& x, const Axes& axes, bool keepdims,
              Precision precision = Precision::kDefault) {
  const std::vector<int> reduced = normalise_axes(name, axes, x.rank());
  Tensor kept = make_tensor(x.context(),
                            builder_of(x).reduce(op, node_of(x), reduced, DType::kVoid, precision));
  return keepdims ? kept : drop_axes(kept, reduced);
}

/// Floats have a largest and a smallest one that stand for none; integers have not.
void require_integers(const char* op, const Tensor& x, const Axes& axis) {
  if (!is_int(x.dtype())) return;
  const Dim count = count_over(x, normalise_axes(op, axis, x.rank()));
  TN_REQUIRE(!count.is_const(0), "[{}] expected at least one integer to reduce, got none", op);
}

void require_float(const char* op, const Tensor& x) {
  TN_REQUIRE(is_float(x.dtype()), "[{}] expected a float dtype, got {}; use astype", op,
             dtype_name(x.dtype()));
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axis, bool keepdims, std::optional<DType> dtype) {
  return reduce("sum", Op::ADD, rounded(x, dtype.value_or(total_dtype(x))), axis, keepdims);
}
Tensor prod(const Tensor& x, const Axes& axis, bool keepdims, std::optional<DType> dtype) {
  return reduce("prod", Op::MUL, rounded(x, dtype.value_or(total_dtype(x))), axis, keepdims);
}
Tensor max(const Tensor& x, const Axes& axis, bool keepdims) {
  require_integers("max", x, axis);
  return reduce("max", Op::MAX, x, axis, keepdims);
}
Tensor min(const Tensor& x, const Axes& axis, bool keepdims) {
  require_integers("min", x, axis);
  return reduce("min", Op::MIN, x, axis, keepdims);
}

Tensor softmax(const Tensor& x, const Axes& axis) {
  require_float("softmax", x);
  const std::vector<int> axes = normalise_axes("softmax", axis, x.rank());
  const auto value = [&axes](const Tensor& v) {
    const Tensor weights = (v - v.max(axes, /*keepdims=*/true)).exp();
    return weights / weights.sum(axes, /*keepdims=*/true);
  };
  const auto gradient = [&axes](const Tensor& /*v*/, const Tensor& y, const Tensor& g) {
    return y * (g - (g * y).sum(axes, /*keepdims=*/true));
  };
  return in_float(x, [&](const Tensor& v) { return with_gradient("softmax", v, value, gradient); });
}

Tensor layer_norm(const Tensor& x, const Axes& axis, double epsilon) {
  require_float("layer_norm", x);
  const std::vector<int> axes = normalise_axes("layer_norm", axis, x.rank());
  const auto centred = [&](const Tensor& v) { return v - v.mean(axes, /*keepdims=*/true); };
  const auto scale = [&](const Tensor& v) {
    const Tensor variance = v.square().mean(axes, /*keepdims=*/true);
    return (variance + constant_like(variance, epsilon)).rsqrt();
  };
  const auto value = [&](const Tensor& v) {
    const Tensor c = centred(v);
    return c * scale(c);
  };
  // Whatever moves or scales a row as a whole changes nothing.
  const auto gradient = [&](const Tensor& v, const Tensor& y, const Tensor& g) {
    const Tensor moved = g.mean(axes, /*keepdims=*/true), scaled = (g * y).mean(axes, true);
    return scale(centred(v)) * (g - moved - y * scaled);
  };
  return as_op("layer_norm", [&] {
    return in_float(x, [&](const Tensor& v) {  // squares may be beyond a narrow float
      return with_gradient("layer_norm", v, value, gradient);
    });
  });
}

Tensor matmul(const Tensor& a, const Tensor& b, Precision precision) {
  TN_REQUIRE(a.rank() >= 1 && b.rank() >= 1,
             "[matmul] expected tensors of rank 1 or more, got ranks {} and {}", a.rank(),
             b.rank());
  check_room("matmul", a, 1);
  check_room("matmul", b, 1);
  const Shape &rows = dims_of(a), &columns = dims_of(b);
  TN_REQUIRE(rows.back() == columns[columns.size() - std::min<size_t>(columns.size(), 2)],
             "[matmul] expected {} and {}, got {} and {}", rows.size() == 1 ? "[k]" : "[.., m, k]",
             columns.size() == 1 ? "[k]" : "[.., k, n]", to_string(rows), to_string(columns));
  if (a.rank() == 1) return a.expand_dims(0).matmul(b, precision).squeeze(b.rank() == 1 ? 0 : -2);
  if (b.rank() == 1) return a.matmul(b.expand_dims(-1), precision).squeeze(-1);
  broadcast_shapes("matmul", Shape(rows.begin(), rows.end() - 2),
                   Shape(columns.begin(), columns.end() - 2));
  // Products of narrow floats are exact in f32, which is also what matrix units sum in.
  if (a.dtype() == b.dtype() && is_float(a.dtype()) && dtype_bits(a.dtype()) < 32) {
    const Precision exact = precision == Precision::kExact ? precision : Precision::kDefault;
    return a.astype(DType::kF32).matmul(b.astype(DType::kF32), exact).astype(a.dtype());
  }
  const Tensor products = a.expand_dims(-1) * b.expand_dims(-3);
  // Only the factors of f32 are cut.
  if (products.dtype() != DType::kF32) precision = Precision::kDefault;
  return reduce("matmul", Op::ADD, products, -2, /*keepdims=*/false, precision);
}

}  // namespace tenon
