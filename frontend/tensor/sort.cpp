// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorting by a network, on views: which elements are compared depends on their positions alone.
#include "tenon/sort.hpp"

#include <cmath>
#include <functional>

#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/formula.hpp"
#include "frontend/tensor/sizes.hpp"

namespace tenon {
namespace {

using Parts = std::vector<Tensor>;                                     ///< keys of falling weight
using Before = std::function<Tensor(const Parts& a, const Parts& b)>;  ///< a strictly before b

/// Rows whose elements lie so that the network seldom compares neighbours in memory: the upper bits
/// of an element's position, which are compared least, are axes of two inside of the lower ones,
/// and rows are the innermost axis.
struct Layout {
  int lower = 0, upper = 0;  ///< bits
  Size rows = 1;

  std::vector<Size> shape() const {
    std::vector<Size> sizes{int64_t{1} << lower};
    sizes.insert(sizes.end(), static_cast<size_t>(upper), Size(2));
    sizes.push_back(rows);
    return sizes;
  }
};

constexpr int kInnerBits = 5;    ///< of the elements that are not compared with each other
constexpr int kFewestLower = 5;  ///< shorter rows keep one axis
/// Of the first of a row, which are found one after another: each is a pass over what lies in a
/// cache, where a step of the network goes through memory.
constexpr int64_t kMostChosen = 32;

Layout layout_of(const Dim& rows, int bits) {
  const int inner = kInnerBits - std::min(kInnerBits, ceil_log2(rows.min()));
  const int upper = bits - kFewestLower >= inner ? inner : 0;
  return {bits - upper, upper, size_of(rows)};
}

/// [rows, 2^bits] as the layout has it, and back. The highest bit is the innermost.
Tensor to_layout(const Tensor& x, const Layout& layout) {
  std::vector<Size> shape{layout.rows};
  shape.insert(shape.end(), static_cast<size_t>(layout.upper), Size(2));
  shape.emplace_back(int64_t{1} << layout.lower);
  std::vector<int> axes(shape.size());
  std::iota(axes.rbegin(), axes.rend(), 0);
  return x.reshape(std::move(shape)).transpose(std::move(axes));
}

Tensor from_layout(const Tensor& x, const Layout& layout) {
  std::vector<int> axes(layout.shape().size());
  std::iota(axes.rbegin(), axes.rend(), 0);
  return x.transpose(std::move(axes))
      .reshape({layout.rows, int64_t{1} << (layout.lower + layout.upper)});
}

/// Each element meets its partner, which reversing `axes` puts in its place. The lower half of
/// the axis `half` keeps the one that comes before.
void exchange(Parts& parts, const std::vector<int>& axes, int half, const Before& before) {
  Parts partners;
  for (const Tensor& part : parts) partners.push_back(part.flip(axes));
  const Tensor upper = positions(parts[0], half) >= parts[0].size(half) / 2;
  const Tensor stays = where(upper, before(partners, parts), before(parts, partners));
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = where(stays, parts[i], partners[i]);
}

/// Sorts rows: runs of two, four, .. are merged, each first with its mirror image.
void bitonic(Parts& parts, const Layout& layout, const Before& before) {
  const std::vector<Size> whole = layout.shape();
  const int64_t length = whole[0].value();
  const auto lower = [&](std::vector<Size> sizes, std::vector<int> axes, int half) {
    sizes.insert(sizes.end(), whole.begin() + 1, whole.end());
    for (Tensor& part : parts) part = part.reshape(sizes);
    exchange(parts, axes, half, before);
    for (Tensor& part : parts) part = part.reshape(whole);
  };
  for (int stage = 1; stage <= layout.lower + layout.upper; ++stage) {
    const int64_t run = int64_t{1} << std::min(stage, layout.lower);
    if (stage <= layout.lower) {
      lower({length / run, run}, {1}, 1);
    } else {
      std::vector<int> axes(static_cast<size_t>(stage - layout.lower) + 1);
      std::iota(axes.begin(), axes.end(), 0);
      exchange(parts, axes, axes.back(), before);
      for (int axis = axes.back() - 1; axis > 0; --axis) exchange(parts, {axis}, axis, before);
    }
    for (int64_t distance = stage <= layout.lower ? run / 4 : run / 2; distance > 0; distance /= 2)
      lower({length / (2 * distance), 2, distance}, {1}, 1);
  }
}

/// Rows [.., n] with others behind them, sorted together by the first. Where n is a symbol, as many
/// as its bound are.
Parts sort_parts(Parts parts, const std::vector<Number>& fills, const Before& before) {
  const Shape shape = dims_of(parts[0]);
  const Size count = size_of(shape.back());
  const int bits = ceil_log2(count.maximum());
  const Layout layout = layout_of(product(Shape(shape.begin(), shape.end() - 1)), bits);
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = to_layout(parts[i]
                             .reshape({layout.rows, count})
                             .pad({{0, 0}, {0, (int64_t{1} << bits) - count}}, fills[i]),
                         layout);
  bitonic(parts, layout, before);
  for (Tensor& part : parts)
    part = part_of_last(from_layout(part, layout), 0, count).reshape(to_sizes(shape));
  return parts;
}

/// Unsigned integers, or i64, in the order of x: of floats the bits, mirrored below zero.
Tensor order_key(const Tensor& x) {
  const DType dtype = x.dtype();
  if (is_float(dtype)) {
    const Tensor wide = as_real(x);
    const bool twice = wide.dtype() == DType::kF64;
    const Tensor plain = where(wide == 0, 0, wide);
    const Tensor bits = plain.bit_cast(twice ? DType::kU64 : DType::kU32);
    const uint64_t sign = uint64_t{1} << (twice ? 63 : 31), all = sign | (sign - 1);
    return where(is_nan(wide), all, bits ^ where(plain < 0, constant_like(bits, all), sign));
  }
  if (dtype == DType::kU64 || dtype == DType::kI64) return x;
  if (!is_signed(dtype)) return x.astype(DType::kU32);
  return x.astype(DType::kI32).bit_cast(DType::kU32) ^ uint64_t { 0x80000000 };
}

Number greatest(DType dtype) {
  const auto unused = static_cast<int>(64 - dtype_bits(dtype));
  return is_signed(dtype) ? Number(INT64_MAX >> unused) : Number(~uint64_t{0} >> unused);
}

Tensor directed_key(const Tensor& x, bool descending) {
  Tensor key = order_key(x);
  if (!descending) return key;
  return key ^ constant_like(key, is_signed(key.dtype()) ? Number(-1) : greatest(key.dtype()));
}

/// A key of 32 bits and its position in one word: a stable order without a second comparison.
Tensor word_of(const Tensor& key) {
  return (key.astype(DType::kU64) * (uint64_t{1} << 32)) | positions(key, -1).astype(DType::kU64);
}
Tensor position_in(const Tensor& word) { return (word & uint64_t{0xFFFFFFFF}).astype(DType::kI64); }

/// Of rows [.., n].
Tensor argsort_rows(const Tensor& x, bool descending) {
  const Tensor key = directed_key(x, descending);
  if (dtype_bits(key.dtype()) == 32) {
    const Parts sorted = sort_parts({word_of(key)}, {greatest(DType::kU64)},
                                    [](const Parts& a, const Parts& b) { return a[0] < b[0]; });
    return position_in(sorted[0]);
  }
  const Tensor place = positions(key, -1);
  const Parts sorted =
      sort_parts({key, place.astype(DType::kI32)}, {greatest(key.dtype()), INT32_MAX},
                 [](const Parts& a, const Parts& b) {
                   return (a[0] < b[0]) | ((a[0] == b[0]) & (a[1] < b[1]));
                 });
  return sorted[1].astype(DType::kI64);
}

/// Positions of the first k in rows [.., n]: each time the least of what comes after the last one.
Tensor first_of_rows(const Tensor& key, int64_t k) {
  const Tensor word = word_of(key);
  std::vector<Tensor> found;
  while (static_cast<int64_t>(found.size()) < k) {
    const Tensor left = found.empty() ? word
                                      : where(found.back() < word, word,
                                              constant_like(word, greatest(DType::kU64)));
    found.push_back(left.min(-1, /*keepdims=*/true));
  }
  return position_in(concatenate(found, -1));
}

/// Of rows [.., n]. NaN are taken for the largest number, and put back by their count.
Tensor sort_rows(const Tensor& x) {
  const bool real = is_float(x.dtype());
  const Tensor missing = real ? is_nan(x) : Tensor(false);
  const Tensor numbers = real ? where(missing, INFINITY, x) : x;
  Tensor sorted = sort_parts({numbers}, {real ? Number(INFINITY) : greatest(x.dtype())},
                             [](const Parts& a, const Parts& b) { return a[0] < b[0]; })[0];
  if (!real) return sorted;
  const Tensor found = missing.astype(DType::kI64).sum(-1, /*keepdims=*/true);
  return where(positions(sorted, -1) < count_as(found, dims_of(x).back()) - found, sorted, NAN);
}

}  // namespace

Tensor sort(const Tensor& x, int axis, bool descending) {
  const int at = normalise_axis("sort", axis, x.rank());
  if (dims_of(x)[static_cast<size_t>(at)].max() <= 1 || product(dims_of(x)).is_const(0)) return x;
  const auto value = [&](const Tensor& v) {
    const Tensor sorted = last_to_axis(sort_rows(axis_to_last(v, at)), at);
    return descending ? sorted.flip(at) : sorted;
  };
  // Narrow ones are sorted in a dtype that every device computes in.
  if (!is_float(x.dtype())) {
    const bool narrow = dtype_bits(x.dtype()) < 32;
    const DType wide = is_signed(x.dtype()) ? DType::kI32 : DType::kU32;
    return rounded(value(narrow ? x.astype(wide) : x), x.dtype());
  }
  // The network is not stable; which of equals stands where is what argsort says.
  const auto gradient = [&](const Tensor& v, const Tensor& /*y*/, const Tensor& g) {
    return constant_like(v, 0).scatter(at, argsort(v, at, descending), g);
  };
  return rounded(with_gradient("sort", as_real(x), value, gradient), x.dtype());
}

Tensor argsort(const Tensor& x, int axis, bool descending) {
  const int at = normalise_axis("argsort", axis, x.rank());
  const Dim& extent = dims_of(x)[static_cast<size_t>(at)];
  TN_REQUIRE(extent.max() < INT32_MAX, "[argsort] expected fewer than 2^31 elements, got {}",
             to_string(extent));
  if (product(dims_of(x)).is_const(0) || extent.max() == 1)
    return filled(x, x.sizes(), 0, DType::kI64);
  return last_to_axis(argsort_rows(axis_to_last(x, at), descending), at);
}

TopK topk(const Tensor& x, int64_t k, int axis, bool largest) {
  const int at = normalise_axis("topk", axis, x.rank());
  const Dim& extent = dims_of(x)[static_cast<size_t>(at)];
  TN_REQUIRE(k >= 0 && at_most(k, extent), "[topk] expected k in [0, {}], got {}",
             to_string(extent), k);
  const auto indices = [&] {
    if (k > 0 && k <= kMostChosen && k < extent.max() && !product(dims_of(x)).is_const(0)) {
      const Tensor key = directed_key(axis_to_last(x, at), largest);
      if (dtype_bits(key.dtype()) == 32) return last_to_axis(first_of_rows(key, k), at);
    }
    std::vector<Slice> ranges(static_cast<size_t>(at) + 1);
    ranges.back() = Slice{0, k};
    return argsort(x, at, largest).slice(std::move(ranges));
  }();
  return {x.gather(at, indices), indices};
}

}  // namespace tenon
