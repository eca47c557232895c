// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/resize.hpp"

#include "tenon/make.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/support/error.hpp"
#include "frontend/nn/wide.hpp"

namespace tenon::nn {
namespace {

using Shape = std::vector<int64_t>;

Tensor nearest(const Tensor& x, int axis, int64_t to) {
  const int64_t from = x.size(axis);
  if (to % from == 0) {  // each a number of times: a view
    Shape shape = x.shape();
    shape.insert(shape.begin() + axis + 1, to / from);
    Shape merged = x.shape();
    merged[static_cast<size_t>(axis)] = to;
    return x.expand_dims(axis + 1).broadcast_to(shape).reshape(merged);
  }
  Shape at;
  for (int64_t i = 0; i < to; ++i) at.push_back(i * from / to);
  return x.take(tensor<int64_t>(at, {to}, x.context()), axis);
}

Tensor on_a_line(const Tensor& x, int axis, int64_t to, bool align_corners) {
  const int64_t from = x.size(axis);
  const auto n = static_cast<double>(from), m = static_cast<double>(to);
  Shape low, high;
  std::vector<double> part;
  for (int64_t i = 0; i < to; ++i) {
    const auto place = static_cast<double>(i);
    const double at = !align_corners ? std::max(0.0, (place + 0.5) * n / m - 0.5)
                      : to == 1      ? 0
                                     : place * (n - 1) / (m - 1);
    low.push_back(std::min(static_cast<int64_t>(at), from - 1));
    high.push_back(std::min(low.back() + 1, from - 1));
    part.push_back(at - static_cast<double>(low.back()));
  }
  Shape beside(static_cast<size_t>(x.rank()), 1);
  beside[static_cast<size_t>(axis)] = to;
  Context& context = x.context();
  const Tensor weight = tensor<double>(part, {to}, context).astype(x.dtype()).reshape(beside);
  return x.take(tensor<int64_t>(low, {to}, context), axis) * (1 - weight) +
         x.take(tensor<int64_t>(high, {to}, context), axis) * weight;
}

/// Throws unless the last three axes are there and divide as they must.
void check_factor(const char* op, int64_t factor) {
  TN_REQUIRE(0 < factor && factor < (1 << 15), "[{}] expected a factor in [1, 2^15), got {}", op,
             factor);
}

void check_pixels(const char* op, const Tensor& x, int64_t factor, bool channels) {
  check_factor(op, factor);
  TN_REQUIRE(x.rank() >= 3 && (channels ? x.size(-3) % (factor * factor) == 0
                                        : x.size(-2) % factor == 0 && x.size(-1) % factor == 0),
             "[{}] expected [.., channels, height, width] with {} a multiple of {}, got [{}]", op,
             channels ? "channels" : "height and width", channels ? factor * factor : factor,
             fmt::join(x.shape(), ", "));
}

}  // namespace

Tensor interpolate(const Tensor& x, const Shape& sizes, const InterpolateOptions& options) {
  const int lead = x.rank() - static_cast<int>(sizes.size());
  TN_REQUIRE(!sizes.empty() && lead >= 0, "[nn.interpolate] expected 1 to {} sizes, got {}",
             x.rank(), sizes.size());
  const bool is_line = options.mode == Interpolation::kLinear;
  TN_REQUIRE(!is_line || is_float(x.dtype()),
             "[nn.interpolate] expected a float dtype for lines, got {}", dtype_name(x.dtype()));
  TN_REQUIRE(is_line || !options.align_corners,
             "[nn.interpolate] expected align_corners with lines only, got it with nearest");
  Tensor out = is_line ? wide(x) : x;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int axis = lead + static_cast<int>(i);
    TN_REQUIRE(sizes[i] > 0 && x.size(axis) > 0,
               "[nn.interpolate] expected sizes above 0, got {} of {}", sizes[i], x.size(axis));
    if (sizes[i] == x.size(axis)) continue;
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
  TN_REQUIRE(x.rank() > 2, "[nn.upsample] expected [n, channels, sizes..], got [{}]",
             fmt::join(x.shape(), ", "));
  Shape sizes = x.shape();
  sizes.erase(sizes.begin(), sizes.begin() + 2);
  for (int64_t& size : sizes)
    TN_REQUIRE(!__builtin_mul_overflow(size, factor, &size),
               "[nn.upsample] expected sizes below 2^63, got {} times [{}]", factor,
               fmt::join(x.shape(), ", "));
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
  const int64_t channels = x.size(-3) / (factor * factor), height = x.size(-2), width = x.size(-1);
  Shape shape = x.shape();
  shape.resize(shape.size() - 3);
  Shape cut = shape;
  cut.insert(cut.end(), {channels, factor, factor, height, width});
  shape.insert(shape.end(), {channels, height * factor, width * factor});
  const int lead = x.rank() - 3;
  std::vector<int> axes;
  for (int i = 0; i < lead; ++i) axes.push_back(i);
  for (const int axis : {0, 3, 1, 4, 2}) axes.push_back(lead + axis);
  return x.reshape(cut).transpose(axes).reshape(shape);
}

Tensor pixel_unshuffle(const Tensor& x, int64_t factor) {
  check_pixels("nn.pixel_unshuffle", x, factor, false);
  const int64_t channels = x.size(-3), height = x.size(-2) / factor, width = x.size(-1) / factor;
  Shape shape = x.shape();
  shape.resize(shape.size() - 3);
  Shape cut = shape;
  cut.insert(cut.end(), {channels, height, factor, width, factor});
  shape.insert(shape.end(), {channels * factor * factor, height, width});
  const int lead = x.rank() - 3;
  std::vector<int> axes;
  for (int i = 0; i < lead; ++i) axes.push_back(i);
  for (const int axis : {0, 2, 4, 1, 3}) axes.push_back(lead + axis);
  return x.reshape(cut).transpose(axes).reshape(shape);
}

}  // namespace tenon::nn
