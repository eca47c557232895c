// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions: by windows, and by transforms.
#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/fft.hpp"
#include "tenon/promote.hpp"

namespace tenon {
namespace {

/// A part of the whole convolution.
struct Part {
  Dim begin, count;
};

Part part_of(Convolution mode, const Dim& n, const Dim& m, const Dim& same) {
  const Dim whole = n + m - 1, least = min(n, m);
  TN_REQUIRE(
      mode == Convolution::kFull || at_most(n, m) || at_most(m, n),
      "[convolve] expected sizes of which it is known, but in kFull, which is larger, got {} "
      "and {}",
      to_string(n), to_string(m));
  if (mode == Convolution::kFull) return {0, whole};
  if (mode == Convolution::kSame) return {floor_div(whole - same, 2), same};
  return {least - 1, whole - least * 2 + 2};
}

/// Windows of the last axis [count + m - 1] as columns, [.., m, count], without a gather: in copies
/// of rows that are read one element longer, each row begins one later.
Tensor windows(const Tensor& x, const Dim& m, const Dim& count) {
  const Dim length = count + m - 1;
  Shape shape = dims_of(x);
  shape.insert(shape.end() - 1, m + 1);
  Tensor rows = x.expand_dims(-2).broadcast_to(to_sizes(shape));
  shape.resize(shape.size() - 2);
  shape.push_back((m + 1) * length);
  rows = part_of_last(rows.reshape(to_sizes(shape)), 0, size_of(m * (length + 1)));
  shape.back() = m;
  shape.push_back(length + 1);
  return part_of_last(rows.reshape(to_sizes(shape)), 0, size_of(count));
}

/// The least number from n on without primes above 5.
int64_t smooth_length(int64_t n) {
  for (;; ++n) {
    int64_t rest = n;
    for (const int64_t p : {2, 3, 5})
      while (rest % p == 0) rest /= p;
    if (rest == 1) return n;
  }
}

Tensor padded_to(const Tensor& x, int axis, int64_t length) {
  std::vector<std::pair<int64_t, int64_t>> pairs(static_cast<size_t>(x.rank()));
  pairs[static_cast<size_t>(axis)] = {0, length - x.size(axis)};
  return x.pad(pairs);
}

bool covers(const Tensor& x, const Tensor& kernel, const std::vector<int>& axes) {
  return std::ranges::all_of(axes, [&](int axis) { return x.size(axis) >= kernel.size(axis); });
}

}  // namespace

Tensor convolve(const Tensor& x, const Tensor& kernel, Convolution mode, int axis) {
  const int at = normalise_axis("convolve", axis, x.rank());
  TN_REQUIRE(kernel.rank() == 1, "[convolve] expected a kernel of rank 1, got rank {}",
             kernel.rank());
  check_room("convolve", x, 2);
  const Dim n = dims_of(x)[static_cast<size_t>(at)], m = dims_of(kernel)[0];
  TN_REQUIRE(n.min() > 0 && m.min() > 0,
             "[convolve] expected at least one element of each, got {} and {}", to_string(n),
             to_string(m));
  const Part part = part_of(mode, n, m, max(n, m));
  const Tensor rows = axis_to_last(x, at);
  std::vector<std::pair<Size, Size>> pairs(static_cast<size_t>(x.rank()), {0, 0});
  pairs.back() = {size_of(m - 1), size_of(m - 1)};
  const Tensor all = rows.pad(pairs);
  const Tensor used =
      part_of_last(all, size_of(part.begin), size_of(part.begin + part.count + m - 1));
  const Tensor turned = kernel.flip(0).expand_dims(0);
  return last_to_axis(turned.matmul(windows(used, m, part.count)).squeeze(-2), at);
}

Tensor fft_convolve(const Tensor& x, const Tensor& kernel, Convolution mode, const Axes& axis) {
  TN_REQUIRE(x.rank() == kernel.rank() && x.rank() > 0,
             "[fft_convolve] expected two tensors of one rank above 0, got ranks {} and {}",
             x.rank(), kernel.rank());
  const std::vector<int> axes = normalise_axes("fft_convolve", axis, x.rank());
  for (const int axis : axes)
    TN_REQUIRE(
        fixed_axis("fft_convolve", x, axis) > 0 && fixed_axis("fft_convolve", kernel, axis) > 0,
        "[fft_convolve] expected non-empty axes, got {} and {}", to_string(dims_of(x)),
        to_string(dims_of(kernel)));
  TN_REQUIRE(mode != Convolution::kValid || covers(x, kernel, axes) || covers(kernel, x, axes),
             "[fft_convolve] expected one to be at least as large as the other on each axis, got "
             "{} and {}",
             to_string(dims_of(x)), to_string(dims_of(kernel)));
  const DType dtype = promote_types(real_dtype(x), real_dtype(kernel));
  const DType inside = dtype == DType::kF64 ? dtype : DType::kF32;
  const int last = axes.back();
  std::vector<int64_t> lengths(static_cast<size_t>(x.rank()));
  for (const int axis : axes)
    lengths[static_cast<size_t>(axis)] = smooth_length(x.size(axis) + kernel.size(axis) - 1);
  const auto spectrum = [&](const Tensor& of) {
    Tensor padded = rounded(of, inside);
    for (const int axis : axes)
      padded = padded_to(padded, axis, lengths[static_cast<size_t>(axis)]);
    ComplexPair result = rfft(padded, last);
    for (const int axis : axes)
      if (axis != last) result = fft(result, axis);
    return result;
  };
  const ComplexPair a = spectrum(x), b = spectrum(kernel);
  ComplexPair product{a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  std::vector<Slice> ranges(static_cast<size_t>(x.rank()));
  for (const int axis : axes) {
    const Part part = part_of(mode, x.size(axis), kernel.size(axis), x.size(axis));
    ranges[static_cast<size_t>(axis)] =
        Slice{size_of(part.begin), size_of(part.begin + part.count)};
    if (axis != last) product = ifft(product, axis);
  }
  const Tensor whole = irfft(product, lengths[static_cast<size_t>(last)], last);
  return rounded(whole.slice(std::move(ranges)), dtype);
}

}  // namespace tenon
