// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images, sequences and volumes in other sizes: x [n, channels, sizes..], of one axis to three or
// more. Sizes, places and names are PyTorch's.
#pragma once

#include <vector>

#include "tenon/export.hpp"
#include "tenon/nn/module.hpp"

namespace tenon::nn {

/// What lies between elements: the one before, or a line between two (bilinear of two axes,
/// trilinear of three).
enum class Interpolation : uint8_t { kNearest, kLinear };

struct InterpolateOptions {
  Interpolation mode = Interpolation::kNearest;
  /// For lines. Element i of m lies at i (n-1)/(m-1) of n: ends meet ends. Without, at
  /// (i + 1/2) n/m - 1/2, but not before the first: areas meet areas.
  bool align_corners = false;
};

/// The last axes, as many as sizes are given, in these sizes. Nearest takes element floor(i n/m).
/// Throws kInvalid for sizes below 1, and for lines between what is no float.
TENON_API Tensor interpolate(const Tensor& x, const Sizes& sizes,
                             const InterpolateOptions& options = {});

/// All axes after the first two, so many times as long.
struct TENON_API Upsample {
  Upsample(int64_t factor, const InterpolateOptions& options = {});
  Tensor operator()(const Tensor& x) const;
  int64_t factor;
  Interpolation mode;
  bool align_corners;
  TENON_FIELDS(factor, mode, align_corners)
};

/// [.., channels r^2, height, width] to [.., channels, height r, width r]: Shi et al., 2016. Each
/// r^2 channels are the rows of a square.
TENON_API Tensor pixel_shuffle(const Tensor& x, int64_t factor);
/// Its inverse.
TENON_API Tensor pixel_unshuffle(const Tensor& x, int64_t factor);

struct TENON_API PixelShuffle {
  PixelShuffle(int64_t factor);
  Tensor operator()(const Tensor& x) const { return pixel_shuffle(x, factor); }
  int64_t factor;
  TENON_FIELDS(factor)
};
struct TENON_API PixelUnshuffle {
  PixelUnshuffle(int64_t factor);
  Tensor operator()(const Tensor& x) const { return pixel_unshuffle(x, factor); }
  int64_t factor;
  TENON_FIELDS(factor)
};

}  // namespace tenon::nn
