// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/tensor.hpp"

#include <cmath>

#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/sizes.hpp"

namespace tenon {
namespace {

constexpr int64_t kBlock = 32;  ///< measured: 64 takes twice as long

/// An associative combination.
class Combination {
 public:
  explicit Combination(Number identity) : identity_(identity) {}
  virtual ~Combination() = default;
  /// Of all elements of an axis, which goes.
  virtual Tensor total(const Tensor& x, int axis) const = 0;
  virtual Tensor both(const Tensor& before, const Tensor& x) const = 0;
  Number identity() const { return identity_; }

 private:
  Number identity_;
};

class BySum final : public Combination {
 public:
  BySum() : Combination(0) {}
  Tensor total(const Tensor& x, int axis) const override {
    return x.sum(axis, /*keepdims=*/false, x.dtype());
  }
  Tensor both(const Tensor& before, const Tensor& x) const override { return before + x; }
};

class ByProduct final : public Combination {
 public:
  ByProduct() : Combination(1) {}
  Tensor total(const Tensor& x, int axis) const override {
    return x.prod(axis, /*keepdims=*/false, x.dtype());
  }
  Tensor both(const Tensor& before, const Tensor& x) const override { return before * x; }
};

class ByMax final : public Combination {
 public:
  using Combination::Combination;
  Tensor total(const Tensor& x, int axis) const override { return x.max(axis); }
  Tensor both(const Tensor& before, const Tensor& x) const override { return before.maximum(x); }
};

class ByMin final : public Combination {
 public:
  using Combination::Combination;
  Tensor total(const Tensor& x, int axis) const override { return x.min(axis); }
  Tensor both(const Tensor& before, const Tensor& x) const override { return before.minimum(x); }
};

/// ln(e^a + e^b + ..): exponents are taken from their largest, where that is finite.
class ByLogSum final : public Combination {
 public:
  ByLogSum() : Combination(-INFINITY) {}
  Tensor total(const Tensor& x, int axis) const override {
    const Tensor most = finite(x.max(axis, /*keepdims=*/true));
    return ((x - most).exp().sum(axis, /*keepdims=*/true).log() + most).squeeze(axis);
  }
  Tensor both(const Tensor& before, const Tensor& x) const override {
    const Tensor most = finite(before.maximum(x));
    return ((before - most).exp() + (x - most).exp()).log() + most;
  }

 private:
  static Tensor finite(const Tensor& x) { return where(isfinite(x), x, 0); }
};

/// An axis in itself: of each element those that are not behind it.
Tensor scan_block(const Combination& by, const Tensor& x, int axis) {
  Shape shape = dims_of(x);
  shape.insert(shape.begin() + axis, Dim(shape[static_cast<size_t>(axis)]));
  const Tensor terms = x.expand_dims(axis + 1).broadcast_to(to_sizes(shape));
  const Tensor behind = positions(terms, axis + 1) < positions(terms, axis);
  return by.total(where(behind, constant_like(terms, by.identity()), terms), axis);
}

/// [.., n, ..], whose axes stay where they lie. Of a symbol there are as many levels as of its
/// bound.
Tensor scan_along(const Combination& by, const Tensor& x, int axis) {
  const auto at = static_cast<size_t>(axis);
  const Dim count = dims_of(x)[at];
  if (count.max() <= kBlock) return scan_block(by, x, axis);
  const Dim blocks = count.min() > 0 ? ceil_div(count, kBlock) : floor_div(count, kBlock) + 1;
  std::vector<std::pair<Size, Size>> pairs(static_cast<size_t>(x.rank()), {0, 0});
  pairs[at].second = size_of(blocks * kBlock - count);
  Shape shape = dims_of(x);
  shape[at] = kBlock;
  shape.insert(shape.begin() + axis, blocks);
  const Tensor rows = x.pad(pairs, by.identity()).reshape(to_sizes(shape));
  // What comes before each block: of all blocks, one place further on.
  std::vector<Slice> ranges(static_cast<size_t>(rows.rank()));
  ranges[at] = Slice{0, size_of(blocks - 1)};
  const Tensor totals = scan_along(by, by.total(rows.slice(ranges), axis + 1), axis);
  pairs[at] = {1, 0};
  const Tensor before = totals.pad(pairs, by.identity()).expand_dims(axis + 1);
  Shape padded = dims_of(x);
  padded[at] = blocks * kBlock;
  ranges.assign(padded.size(), {});
  ranges[at] = Slice{0, size_of(count)};
  return by.both(before, scan_block(by, rows, axis + 1)).reshape(to_sizes(padded)).slice(ranges);
}

Tensor scan(const char* op, const Combination& by, const Tensor& x, const Axes& axis,
            DType inside) {
  const std::optional<int> at = one_axis(op, axis, x.rank());
  if (at) check_room(op, x, 1);
  if (!at) return scan(op, by, x.ravel(), 0, inside);
  Tensor wide = rounded(x, inside);
  if (product(dims_of(x)).is_const(0)) return wide;
  return scan_along(by, wide, *at);
}

/// The dtype that numbers of one are combined in.
DType inside_of(DType dtype) {
  return is_float(dtype) && dtype != DType::kF64 ? DType::kF32 : dtype;
}

DType ordering_dtype(const Tensor& x) {
  return x.dtype() == DType::kBool ? DType::kU8 : inside_of(x.dtype());
}

Tensor running_total(const char* op, const Combination& by, const Tensor& x, const Axes& axis,
                     std::optional<DType> dtype) {
  const DType result = dtype.value_or(total_dtype(x));
  return rounded(scan(op, by, rounded(x, result), axis, inside_of(result)), result);
}

/// The least number of a dtype, or the greatest.
Number bound(DType dtype, bool least) {
  if (is_float(dtype)) return least ? -INFINITY : INFINITY;
  const auto unused = static_cast<int>(64 - dtype_bits(dtype));
  if (!is_signed(dtype)) return least ? Number(0) : Number(~uint64_t{0} >> unused);
  return least ? Number(INT64_MIN >> unused) : Number(INT64_MAX >> unused);
}

}  // namespace

Tensor cumsum(const Tensor& x, const Axes& axis, std::optional<DType> dtype) {
  return running_total("cumsum", BySum(), x, axis, dtype);
}

Tensor cumprod(const Tensor& x, const Axes& axis, std::optional<DType> dtype) {
  return running_total("cumprod", ByProduct(), x, axis, dtype);
}

Tensor cummax(const Tensor& x, const Axes& axis) {
  const DType inside = ordering_dtype(x);
  return rounded(scan("cummax", ByMax(bound(inside, true)), x, axis, inside), x.dtype());
}

Tensor cummin(const Tensor& x, const Axes& axis) {
  const DType inside = ordering_dtype(x);
  return rounded(scan("cummin", ByMin(bound(inside, false)), x, axis, inside), x.dtype());
}

Tensor logcumsumexp(const Tensor& x, const Axes& axis) {
  return rounded(scan("logcumsumexp", ByLogSum(), x, axis, as_real(x).dtype()), real_dtype(x));
}

}  // namespace tenon
