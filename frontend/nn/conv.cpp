// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/nn/conv.hpp"

#include <cmath>

#include "core/support/error.hpp"
#include "frontend/nn/bias.hpp"
#include "frontend/nn/in_layer.hpp"
#include "frontend/nn/shape_text.hpp"
#include "tenon/gradient.hpp"
#include "tenon/move.hpp"
#include "tenon/nn/initialisers.hpp"

namespace tenon::nn {
namespace {

using Shape = std::vector<int64_t>;

int64_t product(const Shape& sizes) {
  int64_t out = 1;
  for (const int64_t size : sizes) out *= size;
  return out;
}

Size product(const std::vector<Size>& sizes) {
  Size out = 1;
  for (const Size& size : sizes) out = out * size;
  return out;
}

Tensor last_part(const Tensor& x, const Size& end, int64_t step = 1) {
  std::vector<Slice> ranges(static_cast<size_t>(x.rank()));
  ranges.back() = Slice{{}, end, step};
  return x.slice(std::move(ranges));
}

/// Windows of the last axis, [.., size, count]. In copies of rows that are read `dilation` elements
/// longer, each row begins so many later.
Tensor windows_of_last(const Tensor& x, int64_t size, int64_t stride, int64_t dilation,
                       const Size& count) {
  const Size used = (count - 1) * stride + 1;
  if (size == 1) return last_part(x, used, stride).expand_dims(-2);
  std::vector<Size> shape = x.sizes().vector();
  const Size length = shape.back(), longer = length + dilation;
  if (stride == size && dilation == 1) {
    const Tensor whole = last_part(x, count * size);
    shape.back() = count;
    shape.emplace_back(size);
    return whole.reshape(shape).matrix_transpose();
  }
  // As many as hold all rows, of the least length too.
  const int64_t copies = size + (size * dilation + length.minimum() - 1) / length.minimum();
  shape.insert(shape.end() - 1, Size(copies));
  Tensor rows = x.expand_dims(-2).broadcast_to(shape);
  shape.erase(shape.end() - 2, shape.end());
  shape.push_back(copies * length);
  rows = last_part(rows.reshape(shape), size * longer);
  shape.back() = size;
  shape.push_back(longer);
  return last_part(rows.reshape(shape), used, stride);
}

/// The same of several axes, [.., sizes.., counts..].
Tensor windows_before_counts(const Tensor& x, const Shape& sizes, const Shape& strides,
                             const Shape& dilations) {
  const int n = static_cast<int>(sizes.size()), lead = x.rank() - n;
  TN_REQUIRE(lead >= 0 && strides.size() == sizes.size() && dilations.size() == sizes.size(),
             "[nn.windows] expected a size, a stride and a dilation for each of up to {} axes, got "
             "{}, {} and {}",
             x.rank(), sizes.size(), strides.size(), dilations.size());
  Tensor out = x;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Size length = size_at(x, lead + static_cast<int>(i));
    TN_REQUIRE(sizes[i] > 0 && strides[i] > 0 && dilations[i] > 0,
               "[nn.windows] expected sizes, strides and dilations above 0, got {}, {} and {}",
               sizes[i], strides[i], dilations[i]);
    TN_REQUIRE(sizes[i] - 1 <= (length.minimum() - 1) / dilations[i] && length.minimum() > 0,
               "[nn.windows] expected windows within axis {} of size {}, got {} elements {} apart",
               lead + static_cast<int>(i), length.text(), sizes[i], dilations[i]);
    const Size count = (length - dilations[i] * (sizes[i] - 1) - 1) / strides[i] + 1;
    out = windows_of_last(moveaxis(out, lead, -1), sizes[i], strides[i], dilations[i], count);
  }
  std::vector<int> axes;
  for (int i = 0; i < lead; ++i) axes.push_back(i);
  for (int i = 0; i < n; ++i) axes.push_back(lead + 2 * i);
  for (int i = 0; i < n; ++i) axes.push_back(lead + 2 * i + 1);
  return out.transpose(axes);
}

template <int N>
std::vector<std::pair<int64_t, int64_t>> around(const std::array<int64_t, N>& before,
                                                const std::array<int64_t, N>& after) {
  std::vector<std::pair<int64_t, int64_t>> pairs(2);
  for (size_t i = 0; i < N; ++i) pairs.emplace_back(before[i], after[i]);
  return pairs;
}

template <int N>
Tensor padded(const Tensor& x, const std::array<int64_t, N>& padding, Padding mode) {
  if (mode == Padding::kZeros) return x.pad(around<N>(padding, padding));
  const PadMode modes[] = {PadMode::kReflect, PadMode::kReflect, PadMode::kReplicate,
                           PadMode::kCircular};
  return pad(x, around<N>(padding, padding), modes[static_cast<size_t>(mode)]);
}

/// Each element followed by step - 1 zeros, but for the last.
Tensor spread(const Tensor& x, int axis, int64_t step) {
  if (step == 1) return x;
  Tensor out = moveaxis(x, axis, -1);
  std::vector<Size> shape = out.sizes().vector();
  const Size length = shape.back();
  std::vector<std::pair<int64_t, int64_t>> pairs(shape.size() + 1);
  pairs.back() = {0, step - 1};
  out = out.expand_dims(-1).pad(pairs);
  shape.back() = length * step;
  return moveaxis(last_part(out.reshape(shape), (length - 1) * step + 1), -1, axis);
}

void check_rank(const char* op, const Tensor& x, int sizes, const Size& channels) {
  TN_REQUIRE(x.rank() == sizes + 2 && size_at(x, 1) == channels,
             "[{}] expected [n, {} channels, {} sizes], got {}", op, channels.text(), sizes,
             shape_text(x));
}

Tensor with_bias(const Tensor& x, const std::optional<Parameter>& bias) {
  if (!bias) return x;
  std::vector<Size> shape(static_cast<size_t>(x.rank()) - 1, Size(1));
  shape[0] = size_at(x, 1);
  return x + bias->reshape(shape);
}

template <int N>
Shape weight_shape(const char* op, int64_t first, int64_t second, int64_t groups,
                   const PerAxis<N>& window) {
  TN_REQUIRE(first > 0 && second > 0 && groups > 0 && first % groups == 0 && second % groups == 0,
             "[{}] expected channels above 0 that divide into groups, got {} and {} in {} groups",
             op, first, second, groups);
  Shape shape{first, second / groups};
  for (const int64_t size : window) {
    TN_REQUIRE(size > 0, "[{}] expected windows above 0, got {}", op, size);
    shape.push_back(size);
  }
  return shape;
}

/// Throws kInvalid for what no input could be convolved by.
template <int N>
void check_steps(const char* op, const std::array<int64_t, N>& strides,
                 const std::array<int64_t, N>& paddings, const std::array<int64_t, N>& dilations) {
  for (size_t i = 0; i < N; ++i)
    TN_REQUIRE(strides[i] > 0 && dilations[i] > 0 && paddings[i] >= 0,
               "[{}] expected strides and dilations above 0 and paddings of 0 or more, got {}, {} "
               "and {}",
               op, strides[i], dilations[i], paddings[i]);
}

double bound_of(const Shape& weight) {
  const int64_t inputs = product(weight) / weight[0];
  return 1 / std::sqrt(static_cast<double>(inputs));
}

}  // namespace

Tensor windows(const Tensor& x, const Shape& sizes, const Shape& strides, const Shape& dilations) {
  const Tensor out = windows_before_counts(x, sizes, strides, dilations);
  const int n = static_cast<int>(sizes.size()), lead = x.rank() - n;
  std::vector<int> axes;
  for (int i = 0; i < lead; ++i) axes.push_back(i);
  for (int i = 0; i < n; ++i) axes.push_back(lead + n + i);
  for (int i = 0; i < n; ++i) axes.push_back(lead + i);
  return out.transpose(axes);
}

namespace {

/// What a convolution is told beside its operands.
struct Steps {
  Shape strides, dilations;
  int64_t groups = 1;
};

/// As a product of matrices: [n, groups, inputs by window, windows], and how many along each axis.
struct Columns {
  Tensor values;
  std::vector<Size> counts;
};

/// Of weights [outputs, inputs / groups, window..].
Shape window_of(const Tensor& weight) {
  Shape window;
  for (int axis = 2; axis < weight.rank(); ++axis)
    window.push_back(fixed_size_at("nn.conv", weight, axis));
  return window;
}

Columns columns_of(const Tensor& x, const Tensor& weight, const Steps& steps) {
  const Shape window = window_of(weight);
  const Tensor all = windows_before_counts(x, window, steps.strides, steps.dilations);
  const std::vector<Size> shape = all.sizes().vector();
  const std::vector<Size> counts(shape.end() - static_cast<int64_t>(window.size()), shape.end());
  return {
      all.reshape({shape[0], steps.groups, size_at(weight, 1) * product(window), product(counts)}),
      counts};
}

Tensor product_of_matrices(const Tensor& x, const Tensor& weight, const Steps& steps) {
  const auto [columns, counts] = columns_of(x, weight, steps);
  const Size outputs = size_at(weight, 0);
  const Tensor rows = weight.reshape({steps.groups, outputs / steps.groups, size_at(columns, 2)});
  std::vector<Size> result{size_at(x, 0), outputs};
  result.insert(result.end(), counts.begin(), counts.end());
  return rows.matmul(columns).reshape(result);
}

/// [outputs, inputs / groups, ..] to [inputs, outputs / groups, ..], and each window turned.
Tensor turned(const Tensor& weight, int64_t groups) {
  std::vector<Size> grouped = weight.sizes().vector(), result = grouped;
  std::vector<int> axes;
  for (int axis = 2; axis < weight.rank(); ++axis) axes.push_back(axis);
  grouped[0] = grouped[0] / groups;
  grouped.insert(grouped.begin(), Size(groups));
  result[0] = size_at(weight, 1) * groups;
  result[1] = size_at(weight, 0) / groups;
  return weight.flip(axes).reshape(grouped).swapaxes(1, 2).reshape(result);
}

/// A convolution too: of what came back, spread and with room around it, and the turned weight.
Tensor gradient_of_image(const Sizes& image, const Tensor& weight, const Tensor& g,
                         const Steps& steps) {
  Tensor wide = g;
  std::vector<std::pair<Size, Size>> pairs(2, {0, 0});
  for (int axis = 2; axis < weight.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    wide = spread(wide, axis, steps.strides[i - 2]);
    const int64_t reach = steps.dilations[i - 2] * (weight.size(axis) - 1);
    pairs.emplace_back(reach, image[i] - size_at(wide, axis));
  }
  return product_of_matrices(wide.pad(pairs), turned(weight, steps.groups),
                             {Shape(steps.strides.size(), 1), steps.dilations, steps.groups});
}

Tensor gradient_of_weight(const Tensor& x, const Tensor& weight, const Tensor& g,
                          const Steps& steps) {
  const Tensor columns = columns_of(x, weight, steps).values.expand_dims(2);
  const Tensor rows = g.reshape(
      {size_at(x, 0), steps.groups, size_at(weight, 0) / steps.groups, 1, size_at(columns, 4)});
  return (rows * columns).sum({0, 4}).reshape(weight.sizes());
}

}  // namespace

Tensor conv(const Tensor& x, const Tensor& weight, const Shape& strides, const Shape& dilations,
            int64_t groups) {
  TN_REQUIRE(weight.rank() > 2, "[nn.conv] expected a weight [outputs, inputs, window..], got {}",
             shape_text(weight));
  window_of(weight);
  TN_REQUIRE(groups > 0 && size_at(weight, 0) % groups == Size(0),
             "[nn.conv] expected outputs that divide into groups, got {} in {}",
             size_at(weight, 0).text(), groups);
  check_rank("nn.conv", x, weight.rank() - 2, size_at(weight, 1) * groups);
  const Steps steps{strides, dilations, groups};
  // Narrow floats as in a product of matrices.
  const DType dtype = x.dtype();
  if (dtype != weight.dtype() || !is_float(dtype)) return product_of_matrices(x, weight, steps);
  if (dtype_bits(dtype) < 32)
    return conv(x.astype(DType::kF32), weight.astype(DType::kF32), strides, dilations, groups)
        .astype(dtype);
  const TensorFunction function = composite(
      "conv",
      [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{product_of_matrices(in[0], in[1], steps)};
      },
      [&](const std::vector<Tensor>& in) {  // of x, the weight, the result and what came back
        return std::vector<Tensor>{gradient_of_image(in[0].sizes(), in[1], in[3], steps),
                                   gradient_of_weight(in[0], in[1], in[3], steps)};
      });
  return function({x, weight})[0];
}

template <int N>
Conv<N>::Conv(int64_t inputs, int64_t outputs, PerAxis<N> window, const ConvOptions<N>& options)
    : weight(weight_shape("nn.conv", outputs, inputs, options.groups, window),
             kaiming_uniform(1 / std::sqrt(3.0))),
      bias(bias_of(options.bias, outputs, bound_of(weight.declared->shape))),
      stride(options.stride),
      padding(options.padding),
      dilation(options.dilation),
      groups(options.groups),
      padding_mode(options.padding_mode) {
  check_steps<N>("nn.conv", stride, padding, dilation);
}

template <int N>
Tensor Conv<N>::operator()(const Tensor& x) const {
  return in_layer(weight, [&] {
    check_rank("nn.conv", x, N, weight.declared->shape[1] * groups);
    return with_bias(
        conv(padded<N>(x, padding, padding_mode), weight, {stride.begin(), stride.end()},
             {dilation.begin(), dilation.end()}, groups),
        bias);
  });
}

template <int N>
ConvTranspose<N>::ConvTranspose(int64_t inputs, int64_t outputs, PerAxis<N> window,
                                const ConvTransposeOptions<N>& options)
    : weight(weight_shape("nn.conv_transpose", inputs, outputs, options.groups, window),
             kaiming_uniform(1 / std::sqrt(3.0))),
      bias(bias_of(options.bias, outputs, bound_of(weight.declared->shape))),
      stride(options.stride),
      padding(options.padding),
      output_padding(options.output_padding),
      dilation(options.dilation),
      groups(options.groups) {
  check_steps<N>("nn.conv_transpose", stride, padding, dilation);
  for (size_t i = 0; i < N; ++i)
    TN_REQUIRE(0 <= output_padding[i] && output_padding[i] < std::max(stride[i], dilation[i]),
               "[nn.conv_transpose] expected an output padding below stride or dilation, got {}",
               output_padding[i]);
}

template <int N>
Tensor ConvTranspose<N>::operator()(const Tensor& x) const {
  return in_layer(weight, [&] {
    const Shape& shape = weight.declared->shape;
    check_rank("nn.conv_transpose", x, N, shape[0]);
    // The same sum seen from the result: a convolution over what is spread, with the kernel turned.
    Tensor wide = x;
    std::array<int64_t, N> before, after;
    for (size_t i = 0; i < N; ++i) {
      const int axis = static_cast<int>(i) + 2;
      TN_REQUIRE(size_at(x, axis).minimum() > 0,
                 "[nn.conv_transpose] expected sizes above 0, got {}", shape_text(x));
      wide = spread(wide, axis, stride[i]);
      const int64_t reach = dilation[i] * (shape[i + 2] - 1);
      before[i] = reach - padding[i];
      after[i] = before[i] + output_padding[i];
      TN_REQUIRE(size_at(wide, axis).minimum() + before[i] + after[i] > reach,
                 "[nn.conv_transpose] expected a padding that leaves something, got {} for axis {} "
                 "of size {}",
                 padding[i], axis, size_at(x, axis).text());
    }
    std::vector<Slice> cut(N + 2);
    for (size_t i = 0; i < N; ++i) {
      const Size length = size_at(wide, static_cast<int>(i) + 2);
      if (before[i] < 0) cut[i + 2].begin = -before[i];
      if (after[i] < 0) cut[i + 2].end = length + after[i];
      before[i] = std::max<int64_t>(before[i], 0);
      after[i] = std::max<int64_t>(after[i], 0);
    }
    wide = wide.slice(std::move(cut)).pad(around<N>(before, after));
    return with_bias(
        conv(wide, turned(weight, groups), Shape(N, 1), {dilation.begin(), dilation.end()}, groups),
        bias);
  });
}

template struct Conv<1>;
template struct Conv<2>;
template struct Conv<3>;
template struct ConvTranspose<1>;
template struct ConvTranspose<2>;
template struct ConvTranspose<3>;

}  // namespace tenon::nn
