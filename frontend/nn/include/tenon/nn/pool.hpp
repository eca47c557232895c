// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling over the last one, two or three axes; sizes and defaults are PyTorch's.
#pragma once

#include "tenon/export.hpp"
#include "tenon/nn/conv.hpp"

namespace tenon::nn {

struct PoolOptions {
  std::vector<int64_t> strides = {};  ///< none: the windows do not overlap
  std::vector<int64_t> padding = {};  ///< none: 0; at most half a window
  std::vector<int64_t> dilations = {};
};

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

// The same as modules.

template <int N>
struct MaxPool {
  MaxPool(PerAxis<N> size, const PoolOptions& with = {}) : window(size.vector()), options(with) {}
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
  AvgPool(PerAxis<N> size, const PoolOptions& with = {}) : window(size.vector()), options(with) {}
  Tensor operator()(const Tensor& x) const { return avg_pool(x, window, options); }
  std::vector<int64_t> window;
  PoolOptions options;
  TENON_FIELDS(window, options.strides, options.padding, options.dilations)
};
using AvgPool1d = AvgPool<1>;
using AvgPool2d = AvgPool<2>;
using AvgPool3d = AvgPool<3>;

}  // namespace tenon::nn
