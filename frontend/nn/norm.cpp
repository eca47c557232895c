// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/norm.hpp"

#include <fmt/ranges.h>

#include "core/support/error.hpp"
#include "frontend/nn/in_layer.hpp"
#include "frontend/nn/option_range.hpp"
#include "frontend/nn/wide.hpp"
#include "tenon/gradient.hpp"
#include "tenon/make.hpp"
#include "tenon/nn/initialisers.hpp"

namespace tenon::nn {
namespace {

using Shape = std::vector<int64_t>;

std::optional<Parameter> parameter(bool wanted, const Shape& shape, double begin) {
  if (!wanted) return {};
  return Parameter(shape, constant(begin));
}

std::vector<int> axes_from(const Tensor& x, int first) {
  std::vector<int> axes;
  for (int axis = first; axis < x.rank(); ++axis) axes.push_back(axis);
  return axes;
}

/// Over the axes from `first` on together.
Tensor normalised(const Tensor& x, int first, double epsilon) {
  std::vector<Size> shape = x.sizes().vector();
  shape.erase(shape.begin() + first, shape.end());
  Size count = 1;
  for (const int axis : axes_from(x, first)) count = count * x.sizes()[static_cast<size_t>(axis)];
  shape.push_back(count);
  return x.reshape(shape).layer_norm(-1, epsilon).reshape(x.sizes());
}

/// By the root of the mean of squares along the last axis.
Tensor scaled(const Tensor& x, double epsilon) {
  const auto scale = [epsilon](const Tensor& v) {
    return (v.square().mean(-1, /*keepdims=*/true) + epsilon).rsqrt();
  };
  using Tensors = std::vector<Tensor>;
  // What scales a row as a whole changes nothing.
  return composite(
      "rms_norm", [&](const Tensors& v) { return Tensors{v[0] * scale(v[0])}; },
      [&](const Tensors& v) {  // of x, y and what comes back
        return Tensors{scale(v[0]) * (v[2] - v[1] * (v[2] * v[1]).mean(-1, /*keepdims=*/true))};
      })({x})[0];
}

void check_epsilon(const char* op, double epsilon) {
  check_options(op, {{"epsilon", epsilon, OptionRange::kNotNegative}});
}

void check_channels(const char* op, const Tensor& x, int64_t channels) {
  TN_REQUIRE(x.rank() >= 2 && x.sizes()[1] == Size(channels), "[{}] expected [n, {}, ..], got {}",
             op, channels,
             x.rank() < 2 ? fmt::format("rank {}", x.rank())
                          : fmt::format("{} channels", x.sizes()[1].text()));
}

/// [channels] beside [n, channels, ..].
Tensor by_channel(const Tensor& of, const Tensor& x) {
  std::vector<Size> shape(static_cast<size_t>(x.rank()) - 1, Size(1));
  shape[0] = of.size(0);
  return of.reshape(shape);
}

Tensor scaled_by_channel(Tensor x, const std::optional<Parameter>& weight,
                         const std::optional<Parameter>& bias) {
  if (weight) x = x * by_channel(*weight, x);
  if (bias) x = x + by_channel(*bias, x);
  return x;
}

}  // namespace

LayerNorm::LayerNorm(const Shape& shape, const NormOptions& options)
    : weight(parameter(options.weight, shape, 1)),
      bias(parameter(options.bias, shape, 0)),
      axes(static_cast<int64_t>(shape.size())),
      epsilon(options.epsilon) {
  TN_REQUIRE(!shape.empty(), "[nn.layer_norm] expected the sizes of the last axes, got none");
  check_epsilon("nn.layer_norm", options.epsilon);
}

Tensor LayerNorm::operator()(const Tensor& x) const {
  return in_layer(weight ? weight : bias, [&] {
    TN_REQUIRE(x.rank() >= axes, "[nn.layer_norm] expected rank {} or more, got {}", axes,
               x.rank());
    const std::optional<Parameter>& like = weight ? weight : bias;
    for (int64_t i = 0; i < axes && like; ++i)
      TN_REQUIRE(x.sizes()[static_cast<size_t>(x.rank() - axes + i)] ==
                     Size(like->declared->shape[static_cast<size_t>(i)]),
                 "[nn.layer_norm] expected last axes [{}], got axis {} of size {}",
                 fmt::join(like->declared->shape, ", "), x.rank() - axes + i,
                 x.sizes()[static_cast<size_t>(x.rank() - axes + i)].text());
    Tensor out = normalised(wide(x), x.rank() - static_cast<int>(axes), epsilon.value());
    if (weight) out = out * *weight;
    if (bias) out = out + *bias;
    return out.astype(x.dtype());
  });
}

RMSNorm::RMSNorm(int64_t size, const NormOptions& options)
    : weight(parameter(options.weight, {size}, 1)), epsilon(options.epsilon) {
  check_epsilon("nn.rms_norm", options.epsilon);
}

Tensor RMSNorm::operator()(const Tensor& x) const {
  return in_layer(weight, [&] {
    const int64_t size = weight ? weight->declared->shape[0] : 0;
    TN_REQUIRE(
        x.rank() > 0 && (!weight || x.sizes()[static_cast<size_t>(x.rank() - 1)] == Size(size)),
        "[nn.rms_norm] expected a last axis of size {}, got {}", size,
        x.rank() == 0 ? "rank 0" : x.sizes()[static_cast<size_t>(x.rank() - 1)].text());
    const Tensor out = scaled(wide(x), epsilon.value());
    return (weight ? out * *weight : out).astype(x.dtype());
  });
}

GroupNorm::GroupNorm(int64_t group_count, int64_t channel_count, const NormOptions& options)
    : weight(parameter(options.weight, {channel_count}, 1)),
      bias(parameter(options.bias, {channel_count}, 0)),
      groups(group_count),
      channels(channel_count),
      epsilon(options.epsilon) {
  TN_REQUIRE(groups > 0 && channels > 0 && channels % groups == 0,
             "[nn.group_norm] expected channels that divide into groups, got {} and {}", channels,
             groups);
  check_epsilon("nn.group_norm", options.epsilon);
}

Tensor GroupNorm::operator()(const Tensor& x) const {
  return in_layer(weight ? weight : bias, [&] {
    check_channels("nn.group_norm", x, channels);
    std::vector<Size> shape = x.sizes().vector();
    shape[1] = channels / groups;
    shape.insert(shape.begin() + 1, Size(groups));
    const Tensor in = wide(x).reshape(shape);
    const Tensor out = normalised(in, 2, epsilon.value()).reshape(x.sizes());
    return scaled_by_channel(out, weight, bias).astype(x.dtype());
  });
}

BatchNorm::BatchNorm(int64_t channels, const BatchNormOptions& options)
    : weight(parameter(options.weight, {channels}, 1)),
      bias(parameter(options.bias, {channels}, 0)),
      running_mean({channels}, zeros()),
      running_var({channels}, ones()),
      num_batches_tracked({}, zeros(), DType::kI64),
      epsilon(options.epsilon),
      momentum(options.momentum) {
  TN_REQUIRE(channels > 0, "[nn.batch_norm] expected channels above 0, got {}", channels);
  check_epsilon("nn.batch_norm", options.epsilon);
  TN_REQUIRE(0 <= options.momentum && options.momentum <= 1,
             "[nn.batch_norm] expected momentum in [0, 1], got {}", options.momentum);
}

Tensor BatchNorm::operator()(const Tensor& x, const Mode& mode) {
  return in_layer(running_mean, [&] {
    const int64_t channels = running_mean.declared->shape[0];
    check_channels("nn.batch_norm", x, channels);
    const Tensor in = wide(x);
    Tensor mean = running_mean, var = running_var;
    if (mode.is_training()) {
      std::vector<int> axes = axes_from(x, 2);
      axes.insert(axes.begin(), 0);
      mean = in.mean(axes);
      var = (in - by_channel(mean, x)).square().mean(axes);
      Size count = 1;
      for (const int axis : axes) count = count * x.sizes()[static_cast<size_t>(axis)];
      TN_REQUIRE(!count.is_fixed() || count.value() > 1,
                 "[nn.batch_norm] expected more than one value a channel to learn from, got {}",
                 count.text());
      const Tensor n = from_size(count, x.context()).astype(in.dtype());
      running_mean = stop_gradient(running_mean * (1 - momentum.value()) + mean * momentum.value());
      running_var = stop_gradient(running_var * (1 - momentum.value()) +
                                  var * (n / (n - 1)) * momentum.value());
      num_batches_tracked = num_batches_tracked + 1;
    }
    const Tensor scale = (var + epsilon.value()).rsqrt();
    const Tensor out = (in - by_channel(mean, x)) * by_channel(scale, x);
    return scaled_by_channel(out, weight, bias).astype(x.dtype());
  });
}

}  // namespace tenon::nn
