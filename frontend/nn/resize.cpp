// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/resize.hpp"

#include "tenon/make.hpp"

#include <algorithm>
#include <cmath>

#include "core/support/error.hpp"
#include "frontend/nn/shape_text.hpp"
#include "frontend/nn/wide.hpp"
#include "tenon/move.hpp"

namespace tenon::nn {
namespace {

/// How often each element stands in a larger axis; 0 where that differs.
int64_t times_of(const Size& from, const Size& to) {
  if (!(to % from == Size(0))) return 0;
  const Size times = to / from;
  return times.is_fixed() ? times.value() : 0;
}

Tensor nearest(const Tensor& x, int axis, const Size& to) {
  const Size from = size_at(x, axis);
  if (const int64_t times = times_of(from, to)) return repeat(x, times, axis);  // a view
  Context& context = x.context();
  const Tensor place = arange(to, DType::kI64, context);
  return x.take(place * from_size(from, context) / from_size(to, context), axis);
}

/// At (place + 1/2) n / m - 1/2, or place (n - 1) / (m - 1): whole numbers and their quotients.
Tensor on_a_line(const Tensor& x, int axis, const Size& to, bool align_corners) {
  Context& context = x.context();
  const Size from = size_at(x, axis);
  const Tensor place = arange(to, DType::kI64, context), n = from_size(from, context),
               m = from_size(to, context), last = n - 1;
  const Tensor above = align_corners ? place * last : ((place * 2 + 1) * n - m).maximum(0);
  const Tensor below = align_corners ? (m - 1).maximum(1) : m * 2;
  const Tensor low = above / below, high = (low + 1).minimum(last);
  std::vector<Size> beside(static_cast<size_t>(x.rank()), Size(1));
  beside[static_cast<size_t>(axis)] = to;
  const Tensor weight =
      ((above - low * below).astype(x.dtype()) / below.astype(x.dtype())).reshape(beside);
  return x.take(low, axis) * (1 - weight) + x.take(high, axis) * weight;
}

/// Throws unless the last three axes are there and divide as they must.
void check_factor(const char* op, int64_t factor) {
  TN_REQUIRE(0 < factor && factor < (1 << 15), "[{}] expected a factor in [1, 2^15), got {}", op,
             factor);
}

void check_pixels(const char* op, const Tensor& x, int64_t factor, bool channels) {
  check_factor(op, factor);
  const auto divides = [&](int axis, int64_t by) { return size_at(x, axis) % by == Size(0); };
  TN_REQUIRE(x.rank() >= 3 && (channels ? divides(-3, factor * factor)
                                        : divides(-2, factor) && divides(-1, factor)),
             "[{}] expected [.., channels, height, width] with {} a multiple of {}, got {}", op,
             channels ? "channels" : "height and width", channels ? factor * factor : factor,
             shape_text(x));
}

}  // namespace

Tensor interpolate(const Tensor& x, const Sizes& sizes, const InterpolateOptions& options) {
  const int lead = x.rank() - static_cast<int>(sizes.size());
  TN_REQUIRE(sizes.size() > 0 && lead >= 0, "[nn.interpolate] expected 1 to {} sizes, got {}",
             x.rank(), sizes.size());
  const bool is_line = options.mode == Interpolation::kLinear;
  TN_REQUIRE(!is_line || is_float(x.dtype()),
             "[nn.interpolate] expected a float dtype for lines, got {}", dtype_name(x.dtype()));
  TN_REQUIRE(is_line || !options.align_corners,
             "[nn.interpolate] expected align_corners with lines only, got it with nearest");
  Tensor out = is_line ? wide(x) : x;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int axis = lead + static_cast<int>(i);
    const Size from = size_at(x, axis);
    TN_REQUIRE(sizes[i].minimum() > 0 && from.minimum() > 0,
               "[nn.interpolate] expected sizes above 0, got {} of {}", sizes[i].text(),
               from.text());
    if (sizes[i] == from) continue;
    out = is_line ? on_a_line(out, axis, sizes[i], options.align_corners)
                  : nearest(out, axis, sizes[i]);
  }
  return out.astype(x.dtype());
}

Upsample::Upsample(int64_t times, const InterpolateOptions& options)
    : factor(times), mode(options.mode), align_corners(options.align_corners) {
  TN_REQUIRE(factor > 0, "[nn.upsample] expected a factor above 0, got {}", factor);
}

Tensor Upsample::operator()(const Tensor& x) const {
  TN_REQUIRE(x.rank() > 2, "[nn.upsample] expected [n, channels, sizes..], got {}", shape_text(x));
  std::vector<Size> sizes = x.sizes().vector();
  sizes.erase(sizes.begin(), sizes.begin() + 2);
  for (Size& size : sizes) {
    int64_t most = 0;
    TN_REQUIRE(!__builtin_mul_overflow(size.maximum(), factor, &most),
               "[nn.upsample] expected sizes below 2^63, got {} times {}", factor, shape_text(x));
    size = size * factor;
  }
  return interpolate(x, sizes, {mode, align_corners});
}

PixelShuffle::PixelShuffle(int64_t times) : factor(times) {
  check_factor("nn.pixel_shuffle", factor);
}
PixelUnshuffle::PixelUnshuffle(int64_t times) : factor(times) {
  check_factor("nn.pixel_unshuffle", factor);
}

Tensor pixel_shuffle(const Tensor& x, int64_t factor) {
  check_pixels("nn.pixel_shuffle", x, factor, true);
  const Size channels = size_at(x, -3) / (factor * factor), height = size_at(x, -2),
             width = size_at(x, -1);
  std::vector<Size> shape = x.sizes().vector();
  shape.erase(shape.end() - 3, shape.end());
  std::vector<Size> cut = shape;
  cut.insert(cut.end(), {channels, Size(factor), Size(factor), height, width});
  shape.insert(shape.end(), {channels, height * factor, width * factor});
  const int lead = x.rank() - 3;
  std::vector<int> axes;
  for (int i = 0; i < lead; ++i) axes.push_back(i);
  for (const int axis : {0, 3, 1, 4, 2}) axes.push_back(lead + axis);
  return x.reshape(cut).transpose(axes).reshape(shape);
}

Tensor pixel_unshuffle(const Tensor& x, int64_t factor) {
  check_pixels("nn.pixel_unshuffle", x, factor, false);
  const Size channels = size_at(x, -3), height = size_at(x, -2) / factor,
             width = size_at(x, -1) / factor;
  std::vector<Size> shape = x.sizes().vector();
  shape.erase(shape.end() - 3, shape.end());
  std::vector<Size> cut = shape;
  cut.insert(cut.end(), {channels, height, Size(factor), width, Size(factor)});
  shape.insert(shape.end(), {channels * factor * factor, height, width});
  const int lead = x.rank() - 3;
  std::vector<int> axes;
  for (int i = 0; i < lead; ++i) axes.push_back(i);
  for (const int axis : {0, 2, 4, 1, 3}) axes.push_back(lead + axis);
  return x.reshape(cut).transpose(axes).reshape(shape);
}

}  // namespace tenon::nn
