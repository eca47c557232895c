// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions over the last one, two or three axes: x [n, channels, sizes..]. As in deep learning
// they are correlations: the kernel is not turned around.
#pragma once

#include <array>
#include <optional>

#include "tenon/export.hpp"
#include "tenon/nn/module.hpp"

namespace tenon::nn {

/// Windows over the last axes, as many as sizes are given: [.., counts.., sizes..], where count =
/// (size of the axis - dilation (window - 1) - 1) / stride + 1, rounded down. A view: no kernel.
/// Throws kInvalid for windows that do not fit.
TENON_API Tensor windows(const Tensor& x, const std::vector<int64_t>& sizes,
                         const std::vector<int64_t>& strides,
                         const std::vector<int64_t>& dilations);

/// What stands around x.
enum class Padding : uint8_t { kZeros, kReflect, kReplicate, kCircular };

/// A number for each axis, or one for all: {3} or 3 is {3, 3} of a Conv2d.
template <int N>
struct PerAxis : std::array<int64_t, N> {
  PerAxis(int64_t all) { this->fill(all); }  // NOLINT: a number is one for all
  PerAxis(const std::array<int64_t, N>& each) : std::array<int64_t, N>(each) {}  // NOLINT
  template <class... T>
  requires(sizeof...(T) == N && N > 1) PerAxis(T... each)
      : std::array<int64_t, N>{static_cast<int64_t>(each)...} {}
  std::vector<int64_t> vector() const { return {this->begin(), this->end()}; }
};

template <int N>
struct ConvOptions {
  PerAxis<N> stride = 1;
  PerAxis<N> padding = 0;  ///< before and after each axis
  PerAxis<N> dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  Padding padding_mode = Padding::kZeros;
};

/// Sum over inputs and window of x times weight, plus bias: [n, outputs, sizes..]. Both begin
/// uniform within 1/sqrt(inputs/groups times the window).
template <int N>
struct TENON_API Conv {
  Conv(int64_t inputs, int64_t outputs, PerAxis<N> window, const ConvOptions<N>& options = {});
  Conv(int64_t inputs, int64_t outputs, PerAxis<N> window, const Key& key,
       const ConvOptions<N>& options = {})
      : Conv(inputs, outputs, window, options) {
    fields::initialise(*this, key);
  }
  Tensor operator()(const Tensor& x) const;

  Parameter weight;               ///< [outputs, inputs / groups, window..]
  std::optional<Parameter> bias;  ///< [outputs]
  std::array<int64_t, N> stride, padding, dilation;
  int64_t groups;
  Padding padding_mode;
  TENON_FIELDS(weight, bias, stride, padding, dilation, groups, padding_mode)
};
using Conv1d = Conv<1>;
using Conv2d = Conv<2>;
using Conv3d = Conv<3>;

template <int N>
struct ConvTransposeOptions {
  PerAxis<N> stride = 1;
  PerAxis<N> padding = 0;         ///< cut from before and after each axis of the result
  PerAxis<N> output_padding = 0;  ///< added after each axis of it; below stride or dilation
  PerAxis<N> dilation = 1;
  int64_t groups = 1;
  bool bias = true;
};

/// The transpose of Conv as a linear map, with its stride: sizes become (size - 1) stride -
/// 2 padding + dilation (window - 1) + output_padding + 1.
template <int N>
struct TENON_API ConvTranspose {
  ConvTranspose(int64_t inputs, int64_t outputs, PerAxis<N> window,
                const ConvTransposeOptions<N>& options = {});
  ConvTranspose(int64_t inputs, int64_t outputs, PerAxis<N> window, const Key& key,
                const ConvTransposeOptions<N>& options = {})
      : ConvTranspose(inputs, outputs, window, options) {
    fields::initialise(*this, key);
  }
  Tensor operator()(const Tensor& x) const;

  Parameter weight;               ///< [inputs, outputs / groups, window..]
  std::optional<Parameter> bias;  ///< [outputs]
  std::array<int64_t, N> stride, padding, output_padding, dilation;
  int64_t groups;
  TENON_FIELDS(weight, bias, stride, padding, output_padding, dilation, groups)
};
using ConvTranspose1d = ConvTranspose<1>;
using ConvTranspose2d = ConvTranspose<2>;
using ConvTranspose3d = ConvTranspose<3>;

/// The convolution itself: x [n, inputs, sizes..], weight [outputs, inputs / groups, window..].
TENON_API Tensor conv(const Tensor& x, const Tensor& weight, const std::vector<int64_t>& strides,
                      const std::vector<int64_t>& dilations, int64_t groups = 1);

}  // namespace tenon::nn
