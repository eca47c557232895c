// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions and what is made of them.
#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/formula.hpp"
#include "frontend/tensor/sizes.hpp"

namespace tenon {
namespace {

Tensor reduce(const char* name, Op op, const Tensor& x, const std::vector<int>& axes, bool keep,
              Precision precision = Precision::kDefault) {
  const std::vector<int> reduced = normalise_axes(name, axes, x.rank());
  Tensor kept = make_tensor(x.context(),
                            builder_of(x).reduce(op, node_of(x), reduced, DType::kVoid, precision));
  return keep ? kept : drop_axes(kept, reduced);
}

void require_float(const char* op, const Tensor& x) {
  TN_REQUIRE(is_float(x.dtype()), "[{}] expected a float dtype, got {}; use cast", op,
             dtype_name(x.dtype()));
}

}  // namespace

Tensor Tensor::sum(std::vector<int> axes, bool keep) const {
  return reduce("sum", Op::ADD, *this, axes, keep);
}
Tensor Tensor::prod(std::vector<int> axes, bool keep) const {
  return reduce("prod", Op::MUL, *this, axes, keep);
}
Tensor Tensor::max(std::vector<int> axes, bool keep) const {
  return reduce("max", Op::MAX, *this, axes, keep);
}
Tensor Tensor::min(std::vector<int> axes, bool keep) const {
  return reduce("min", Op::MIN, *this, axes, keep);
}

Tensor Tensor::mean(std::vector<int> axes, bool keep) const {
  require_float("mean", *this);
  axes = normalise_axes("mean", axes, rank());
  // A count may be beyond what a narrow float holds.
  if (dtype_bits(dtype()) < 32) return cast(DType::kF32).mean(axes, keep).cast(dtype());
  const Tensor total = sum(axes, keep);
  return total / count_as(total, count_over(*this, axes));
}

Tensor Tensor::var(std::vector<int> axes, bool keep) const {
  require_float("var", *this);
  axes = normalise_axes("var", axes, rank());
  return in_float(*this, [&](const Tensor& x) {
    return (x - x.mean(axes, /*keep=*/true)).square().mean(axes, keep);
  });
}

Tensor Tensor::argmax(int axis, bool keep) const {
  axis = normalise_axis("argmax", axis, rank());
  const Dim& extent = dims_of(*this)[static_cast<size_t>(axis)];
  TN_REQUIRE(extent.min() > 0, "[argmax] expected a non-empty axis, got size {} on axis {}",
             extent.is_const() ? "0" : to_string(extent) + ", which may be 0,", axis);
  // The first of equals has the largest extent - position. NaN counts as the largest, as in NumPy.
  Builder& builder = builder_of(*this);
  Tensor position = make_tensor(context(), builder.index(axis, dims_of(*this)));
  if (extent.max() <= INT32_MAX) position = position.cast(DType::kI32);  // twice the lanes
  Tensor is_best = *this == max({axis}, /*keep=*/true);
  if (is_float(dtype())) is_best = is_best | (*this != *this);
  const Tensor rank_from_end = count_as(position, extent) - position;
  const Tensor best = where(is_best, rank_from_end, constant_like(position, 0)).max({axis}, keep);
  return rounded(count_as(best, extent) - best, DType::kI64);
}

Tensor Tensor::softmax(int axis) const {
  require_float("softmax", *this);
  axis = normalise_axis("softmax", axis, rank());
  const auto value = [axis](const Tensor& x) {
    const Tensor weights = (x - x.max({axis}, /*keep=*/true)).exp();
    return weights / weights.sum({axis}, /*keep=*/true);
  };
  const auto gradient = [axis](const Tensor& /*x*/, const Tensor& y, const Tensor& g) {
    return y * (g - (g * y).sum({axis}, /*keep=*/true));
  };
  return in_float(*this,
                  [&](const Tensor& x) { return with_gradient("softmax", x, value, gradient); });
}

Tensor Tensor::layer_norm(int axis, double epsilon) const {
  require_float("layer_norm", *this);
  axis = normalise_axis("layer_norm", axis, rank());
  const auto centred = [&](const Tensor& x) { return x - x.mean({axis}, /*keep=*/true); };
  const auto scale = [&](const Tensor& x) {
    const Tensor variance = x.square().mean({axis}, /*keep=*/true);
    return (variance + constant_like(variance, epsilon)).rsqrt();
  };
  const auto value = [&](const Tensor& x) {
    const Tensor c = centred(x);
    return c * scale(c);
  };
  // Whatever moves or scales a row as a whole changes nothing.
  const auto gradient = [&](const Tensor& x, const Tensor& y, const Tensor& g) {
    const Tensor moved = g.mean({axis}, /*keep=*/true), scaled = (g * y).mean({axis}, true);
    return scale(centred(x)) * (g - moved - y * scaled);
  };
  return in_float(*this, [&](const Tensor& x) {  // squares may be beyond a narrow float
    return with_gradient("layer_norm", x, value, gradient);
  });
}

Tensor Tensor::matmul(const Tensor& other, Precision precision) const {
  TN_REQUIRE(rank() >= 1 && other.rank() >= 1,
             "[matmul] expected tensors of rank 1 or more, got ranks {} and {}", rank(),
             other.rank());
  if (rank() == 1) return unsqueeze(0).matmul(other, precision).squeeze(other.rank() == 1 ? 0 : -2);
  if (other.rank() == 1) return matmul(other.unsqueeze(-1), precision).squeeze(-1);
  const Shape &a = dims_of(*this), &b = dims_of(other);
  TN_REQUIRE(a.back() == b[b.size() - 2],
             "[matmul] expected [.., m, k] and [.., k, n], got {} and {}", to_string(a),
             to_string(b));
  broadcast_shapes("matmul", Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  // Products of narrow floats are exact in f32, which is also what matrix units sum in.
  if (dtype() == other.dtype() && is_float(dtype()) && dtype_bits(dtype()) < 32) {
    const Precision exact = precision == Precision::kExact ? precision : Precision::kDefault;
    return cast(DType::kF32).matmul(other.cast(DType::kF32), exact).cast(dtype());
  }
  const Tensor products = unsqueeze(-1) * other.unsqueeze(-3);
  // Only the factors of f32 are cut.
  if (products.dtype() != DType::kF32) precision = Precision::kDefault;
  return reduce("matmul", Op::ADD, products, {-2}, /*keep=*/false, precision);
}

}  // namespace tenon
