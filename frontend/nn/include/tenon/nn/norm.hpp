// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisation. All compute (x - mean) / sqrt(variance + epsilon) over some axes, with the
// variance of the population, then scale and shift by what is learned: weights begin as 1, biases
// as 0. f16 and bf16 are computed in f32 and rounded once.
#pragma once

#include <optional>

#include "tenon/export.hpp"
#include "tenon/nn/mode.hpp"
#include "tenon/nn/module.hpp"

namespace tenon::nn {

struct NormOptions {
  double epsilon = 1e-5;
  bool weight = true, bias = true;
};

/// Over the last axes, whose sizes are given: Ba, Kiros, Hinton, 2016.
struct TENON_API LayerNorm {
  LayerNorm(const std::vector<int64_t>& shape, const NormOptions& options = {});
  LayerNorm(const std::vector<int64_t>& shape, const Key& key, const NormOptions& options = {})
      : LayerNorm(shape, options) {
    fields::initialise(*this, key);
  }
  Tensor operator()(const Tensor& x) const;

  std::optional<Parameter> weight, bias;  ///< of that shape
  int64_t axes;
  Fixed epsilon;
  TENON_FIELDS(weight, bias, axes, epsilon)
};

/// x / sqrt(mean of x^2 + epsilon) over the last axis: Zhang and Sennrich, 2019.
struct TENON_API RMSNorm {
  RMSNorm(int64_t size, const NormOptions& options = {.epsilon = 1e-6});
  RMSNorm(int64_t size, const Key& key, const NormOptions& options = {.epsilon = 1e-6})
      : RMSNorm(size, options) {
    fields::initialise(*this, key);
  }
  Tensor operator()(const Tensor& x) const;

  std::optional<Parameter> weight;
  Fixed epsilon;
  TENON_FIELDS(weight, epsilon)
};

/// x [n, channels, ..], over groups of channels and all that follows: Wu and He, 2018. One group a
/// channel is instance norm.
struct TENON_API GroupNorm {
  GroupNorm(int64_t groups, int64_t channels, const NormOptions& options = {});
  GroupNorm(int64_t groups, int64_t channels, const Key& key, const NormOptions& options = {})
      : GroupNorm(groups, channels, options) {
    fields::initialise(*this, key);
  }
  Tensor operator()(const Tensor& x) const;

  std::optional<Parameter> weight, bias;  ///< [channels]
  int64_t groups, channels;
  Fixed epsilon;
  TENON_FIELDS(weight, bias, groups, channels, epsilon)
};

struct TENON_API InstanceNorm : GroupNorm {
  InstanceNorm(int64_t channels,
               const NormOptions& options = {.epsilon = 1e-5, .weight = false, .bias = false})
      : GroupNorm(channels, channels, options) {}
  InstanceNorm(int64_t channels, const Key& key,
               const NormOptions& options = {.epsilon = 1e-5, .weight = false, .bias = false})
      : InstanceNorm(channels, options) {
    fields::initialise(*this, key);
  }
};

struct BatchNormOptions {
  double epsilon = 1e-5;
  double momentum = 0.1;  ///< the part of a new batch in the running statistics
  bool weight = true, bias = true;
};

/// x [n, channels, ..], over all axes but the channels: Ioffe and Szegedy, 2015. While it learns,
/// by the batch, which enters the running statistics (its variance by the sample's formula, as in
/// PyTorch); else by these.
struct TENON_API BatchNorm {
  BatchNorm(int64_t channels, const BatchNormOptions& options = {});
  BatchNorm(int64_t channels, const Key& key, const BatchNormOptions& options = {})
      : BatchNorm(channels, options) {
    fields::initialise(*this, key);
  }
  Tensor operator()(const Tensor& x, const Mode& mode = {});

  std::optional<Parameter> weight, bias;  ///< [channels]
  Buffer running_mean, running_var;       ///< [channels], from 0 and 1
  Buffer num_batches_tracked;             ///< i64 []
  Fixed epsilon, momentum;
  TENON_FIELDS(weight, bias, running_mean, running_var, num_batches_tracked, epsilon, momentum)
};

}  // namespace tenon::nn
