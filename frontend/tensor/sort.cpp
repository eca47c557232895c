// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorting by a network, on views: which elements are compared depends on their positions alone.
#include "tenon/sort.hpp"

#include <cmath>
#include <functional>

#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"

namespace tenon {
namespace {

using Parts = std::vector<Tensor>;                                     ///< keys of falling weight
using Before = std::function<Tensor(const Parts& a, const Parts& b)>;  ///< a strictly before b

/// Each element meets its partner, which `axis` reversed puts in its place: the lower half of the
/// axis keeps the one that comes before.
void exchange(Parts& parts, int axis, const Before& before) {
  Parts partners;
  for (const Tensor& part : parts) partners.push_back(part.flip({axis}));
  const Tensor upper = positions(parts[0], axis) >= parts[0].size(axis) / 2;
  const Tensor stays = Tensor::where(upper, before(partners, parts), before(parts, partners));
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = Tensor::where(stays, parts[i], partners[i]);
}

/// Sorts rows [.., 2^k]: runs of two, four, .. are merged, each first with its mirror image.
void bitonic(Parts& parts, const Before& before) {
  const std::vector<int64_t> whole = parts[0].shape();
  const int64_t length = whole.back();
  const auto shaped = [&](std::vector<int64_t> last) {
    std::vector<int64_t> shape(whole.begin(), whole.end() - 1);
    shape.insert(shape.end(), last.begin(), last.end());
    for (Tensor& part : parts) part = part.reshape(shape);
  };
  for (int64_t run = 2; run <= length; run *= 2) {
    shaped({length / run, run});
    exchange(parts, -1, before);
    for (int64_t distance = run / 4; distance > 0; distance /= 2) {
      shaped({length / (2 * distance), 2, distance});
      exchange(parts, -2, before);
    }
  }
  shaped({length});
}

Tensor padded(const Tensor& x, int64_t length, Number value) {
  std::vector<std::pair<int64_t, int64_t>> pairs(static_cast<size_t>(x.rank()), {0, 0});
  pairs.back().second = length - x.size(-1);
  return x.pad(std::move(pairs), value);
}

/// Unsigned integers, or i64, in the order of x: of floats the bits, mirrored below zero.
Tensor order_key(const Tensor& x) {
  const DType dtype = x.dtype();
  if (is_float(dtype)) {
    const Tensor wide = as_real(x);
    const bool twice = wide.dtype() == DType::kF64;
    const Tensor plain = Tensor::where(wide == 0, 0, wide);
    const Tensor bits = plain.bit_cast(twice ? DType::kU64 : DType::kU32);
    const uint64_t sign = uint64_t{1} << (twice ? 63 : 31), all = sign | (sign - 1);
    return Tensor::where(is_nan(wide), all,
                         bits ^ Tensor::where(plain < 0, constant_like(bits, all), sign));
  }
  if (dtype == DType::kU64 || dtype == DType::kI64) return x;
  if (!is_signed(dtype)) return x.cast(DType::kU32);
  return x.cast(DType::kI32).bit_cast(DType::kU32) ^ uint64_t { 0x80000000 };
}

Number greatest(DType dtype) {
  const auto unused = static_cast<int>(64 - dtype_bits(dtype));
  return is_signed(dtype) ? Number(INT64_MAX >> unused) : Number(~uint64_t{0} >> unused);
}

/// Of rows [.., n].
Tensor argsort_rows(const Tensor& x, bool descending) {
  const int64_t count = x.size(-1), length = int64_t{1} << ceil_log2(count);
  Tensor key = order_key(x);
  if (descending)
    key = key ^ constant_like(key, is_signed(key.dtype()) ? Number(-1) : greatest(key.dtype()));
  if (dtype_bits(key.dtype()) == 32) {
    // Key and position in one word: a stable order without a second comparison.
    const DType wide = DType::kU64;
    const Tensor word = (key.cast(wide) * (uint64_t{1} << 32)) + positions(key, -1).cast(wide);
    Parts parts{padded(word, length, greatest(wide))};
    bitonic(parts, [](const Parts& a, const Parts& b) { return a[0] < b[0]; });
    return (part_of_last(parts[0], 0, count) & uint64_t{0xFFFFFFFF}).cast(DType::kI64);
  }
  Parts parts{padded(key, length, greatest(key.dtype())),
              padded(positions(key, -1).cast(DType::kI32), length, INT32_MAX)};
  bitonic(parts, [](const Parts& a, const Parts& b) {
    return (a[0] < b[0]) | ((a[0] == b[0]) & (a[1] < b[1]));
  });
  return part_of_last(parts[1], 0, count).cast(DType::kI64);
}

/// Of rows [.., n]. NaN are taken for the largest number, and put back by their count.
Tensor sort_rows(const Tensor& x) {
  const int64_t count = x.size(-1), length = int64_t{1} << ceil_log2(count);
  const bool real = is_float(x.dtype());
  const Tensor missing = real ? is_nan(x) : Tensor(false);
  const Tensor numbers = real ? Tensor::where(missing, INFINITY, x) : x;
  Parts parts{padded(numbers, length, real ? Number(INFINITY) : greatest(x.dtype()))};
  bitonic(parts, [](const Parts& a, const Parts& b) { return a[0] < b[0]; });
  const Tensor sorted = part_of_last(parts[0], 0, count);
  if (!real) return sorted;
  const Tensor found = missing.cast(DType::kI64).sum({-1}, /*keep=*/true);
  return Tensor::where(positions(sorted, -1) < count - found, sorted, NAN);
}

}  // namespace

Tensor sort(const Tensor& x, int axis, bool descending) {
  const int at = normalise_axis("sort", axis, x.rank());
  if (x.size(at) <= 1 || x.size() == 0) return x;
  Tensor values = x;  // narrow ones are sorted in a dtype that every device computes in
  if (is_float(x.dtype()))
    values = as_real(x);
  else if (dtype_bits(x.dtype()) < 32)
    values = x.cast(is_signed(x.dtype()) ? DType::kI32 : DType::kU32);
  const Tensor sorted = rounded(last_to_axis(sort_rows(axis_to_last(values, at)), at), x.dtype());
  return descending ? sorted.flip({at}) : sorted;
}

Tensor argsort(const Tensor& x, int axis, bool descending) {
  const int at = normalise_axis("argsort", axis, x.rank());
  TN_REQUIRE(x.size(at) < INT32_MAX, "[argsort] expected fewer than 2^31 elements, got {}",
             x.size(at));
  if (x.size() == 0 || x.size(at) == 1) return filled(x, x.shape(), 0, DType::kI64);
  return last_to_axis(argsort_rows(axis_to_last(x, at), descending), at);
}

TopK topk(const Tensor& x, int64_t k, int axis, bool largest) {
  const int at = normalise_axis("topk", axis, x.rank());
  TN_REQUIRE(k >= 0 && k <= x.size(at), "[topk] expected k in [0, {}], got {}", x.size(at), k);
  std::vector<Slice> ranges(static_cast<size_t>(at) + 1);
  ranges.back() = Slice{0, k};
  const Tensor indices = argsort(x, at, largest).slice(std::move(ranges));
  return {x.gather(at, indices), indices};
}

}  // namespace tenon
