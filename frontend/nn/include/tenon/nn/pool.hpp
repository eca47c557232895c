// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling over the last one, two or three axes; sizes and defaults are PyTorch's.
#pragma once

#include "tenon/export.hpp"
#include "tenon/make.hpp"
#include "tenon/nn/conv.hpp"
#include "tenon/nn/mode.hpp"

namespace tenon::nn {

struct PoolOptions {
  std::vector<int64_t> strides = {};  ///< none: the windows do not overlap
  std::vector<int64_t> padding = {};  ///< none: 0; at most half a window
  std::vector<int64_t> dilations = {};
};

/// Throws kInvalid for what no tensor could be pooled by. Layers do so when they are made.
TENON_API void check_pool(const char* op, const std::vector<int64_t>& window,
                          const PoolOptions& options = {});

/// The largest of each window; what is beyond an edge never is.
TENON_API Tensor max_pool(const Tensor& x, const std::vector<int64_t>& window,
                          const PoolOptions& options = {});
/// The mean of each window; zeros beyond an edge count, unless `count_padding` is false.
TENON_API Tensor avg_pool(const Tensor& x, const std::vector<int64_t>& window,
                          const PoolOptions& options = {}, bool count_padding = true);
/// (sum of |x|^p)^(1/p) of each window.
TENON_API Tensor lp_pool(const Tensor& x, double p, const std::vector<int64_t>& window,
                         const PoolOptions& options = {});
/// Of an axis of n elements to m: those from floor(i n / m) to before ceil((i+1) n / m).
TENON_API Tensor adaptive_avg_pool(const Tensor& x, const std::vector<int64_t>& sizes);
TENON_API Tensor adaptive_max_pool(const Tensor& x, const std::vector<int64_t>& sizes);

/// The largest of each of sizes[i] windows of window[i] elements along the last axes; their begins
/// are floor((k + s) a) - floor(s a), a = (n - window) / (size - 1), the last n - window: Graham,
/// 2014. `samples` s in [0, 1) are f32 and broadcast to [.., axes], where .. is what stands before
/// the axes of x.
TENON_API Tensor fractional_max_pool(const Tensor& x, const std::vector<int64_t>& window,
                                     const std::vector<int64_t>& sizes, const Tensor& samples);

// The same as modules.

template <int N>
struct MaxPool {
  MaxPool(PerAxis<N> size, const PoolOptions& with = {}) : window(size.vector()), options(with) {
    check_pool("nn.max_pool", window, options);
  }
  Tensor operator()(const Tensor& x) const { return max_pool(x, window, options); }
  std::vector<int64_t> window;
  PoolOptions options;
  TENON_FIELDS(window, options.strides, options.padding, options.dilations)
};
using MaxPool1d = MaxPool<1>;
using MaxPool2d = MaxPool<2>;
using MaxPool3d = MaxPool<3>;

template <int N>
struct AvgPool {
  AvgPool(PerAxis<N> size, const PoolOptions& with = {}) : window(size.vector()), options(with) {
    check_pool("nn.avg_pool", window, options);
  }
  Tensor operator()(const Tensor& x) const { return avg_pool(x, window, options); }
  std::vector<int64_t> window;
  PoolOptions options;
  TENON_FIELDS(window, options.strides, options.padding, options.dilations)
};
using AvgPool1d = AvgPool<1>;
using AvgPool2d = AvgPool<2>;
using AvgPool3d = AvgPool<3>;

/// x [n, channels, sizes..]. While the model learns each channel draws its windows; else all
/// samples are 1/2.
template <int N>
struct FractionalMaxPool {
  FractionalMaxPool(PerAxis<N> of, PerAxis<N> to) : window(of.vector()), sizes(to.vector()) {
    check_pool("nn.fractional_max_pool", window, {.strides = sizes});
  }
  Tensor operator()(const Tensor& x, const Mode& mode = {}) const {
    const Tensor samples = mode.is_training() ? tenon::uniform(mode.key("nn.fractional_max_pool"),
                                                               {x.sizes()[0], x.sizes()[1], N})
                                              : full({1}, 0.5, DType::kF32, x.context());
    return fractional_max_pool(x, window, sizes, samples);
  }
  std::vector<int64_t> window, sizes;
  TENON_FIELDS(window, sizes)
};
using FractionalMaxPool2d = FractionalMaxPool<2>;
using FractionalMaxPool3d = FractionalMaxPool<3>;

}  // namespace tenon::nn
