// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transforms of lengths that the goldens are too small for, by what they mean; and refusals.
#include <cmath>
#include <complex>
#include <numbers>

#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

using namespace tenon;
using test::on_each_device;
using test::refuses;

namespace {

double largest(const Tensor& x) { return x.abs().max().item<double>(); }

/// The number k of the transform, by its sum.
std::complex<double> by_sum(const std::vector<double>& real, const std::vector<double>& imag,
                            int64_t k) {
  const auto n = static_cast<int64_t>(real.size());
  std::complex<double> sum;
  for (int64_t j = 0; j < n; ++j)
    sum += std::complex<double>(real[static_cast<size_t>(j)], imag[static_cast<size_t>(j)]) *
           std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) /
                               static_cast<double>(n));
  return sum;
}

}  // namespace

TEST_CASE("transforms of large lengths") {
  on_each_device([](Context& context) {
    const bool plain = context.device().name.find("null") != std::string::npos;
    // Powers of two, products, a prime that is a factor of its own, and one that is too large.
    for (const int64_t n : plain ? std::vector<int64_t>{96, 131}
                                 : std::vector<int64_t>{4096, 3000, 127 * 6, 1009 * 2}) {
      INFO(n);
      const std::vector<Key> keys = Key(static_cast<uint64_t>(n), context).split();
      const Tensor real = normal(keys[0], {n}, 0, 1, DType::kF64);
      const Tensor imag = normal(keys[1], {n}, 0, 1, DType::kF64);
      const ComplexPair y = fft({real, imag}), back = ifft(y), half = rfft(real);
      realize({real, imag, y.real, y.imag, back.real, back.imag, half.real, half.imag});
      const std::vector<double> a = real.to_vector<double>(), b = imag.to_vector<double>();
      const std::vector<double> none(a.size(), 0.0);
      const std::vector<double> y_real = y.real.to_vector<double>(),
                                y_imag = y.imag.to_vector<double>(),
                                half_real = half.real.to_vector<double>(),
                                half_imag = half.imag.to_vector<double>();
      const double most = 1e-13 * std::sqrt(static_cast<double>(n));
      for (const int64_t k : {int64_t{0}, int64_t{1}, int64_t{37}, n / 2, n - 1}) {
        const auto at = static_cast<size_t>(k);
        const std::complex<double> found(y_real[at], y_imag[at]);
        CHECK(std::abs(found - by_sum(a, b, k)) < 100 * most);
        if (k > n / 2) continue;
        const std::complex<double> found_half(half_real[at], half_imag[at]);
        CHECK(std::abs(found_half - by_sum(a, none, k)) < 100 * most);
      }
      CHECK(largest(back.real - real) < most);
      CHECK(largest(back.imag - imag) < most);
      CHECK(largest(irfft(half, n) - real) < most);
    }
  });
}

TEST_CASE("a transform is planned once for a length") {
  on_each_device([](Context& context) {
    const auto spectrum = [&](uint64_t seed) {
      const ComplexPair y = rfft(uniform(Key(seed, context), {100}));
      realize({y.real, y.imag});
      return y;
    };
    for (const uint64_t seed : {1, 2, 3}) spectrum(seed);  // the seed becomes an input
    const size_t plans = runtime_of(context).plan_count();
    const Tensor total = spectrum(4).real.slice({Slice{0, 1}});
    CHECK(runtime_of(context).plan_count() == plans);
    CHECK(std::abs(total.item<float>() - uniform(Key(4, context), {100}).sum().item<float>()) <
          1e-4f);
  });
}

TEST_CASE("convolutions by transforms are those by sums") {
  on_each_device([](Context& context) {
    const bool plain = context.device().name.find("null") != std::string::npos;
    const std::vector<Key> keys = Key(3, context).split();
    const Tensor x = normal(keys[0], {2, plain ? 50 : 1500}, 0, 1, DType::kF64);
    const Tensor kernel = normal(keys[1], {plain ? 9 : 201}, 0, 1, DType::kF64);
    for (const Convolution mode : {Convolution::kFull, Convolution::kSame, Convolution::kValid}) {
      const Tensor by_sums = convolve(x, kernel, mode);
      const Tensor by_transforms = fft_convolve(x, kernel.expand_dims(0), mode, {1});
      CHECK(by_sums.shape() == by_transforms.shape());
      CHECK(largest(by_sums - by_transforms) < 1e-11);
    }
  });
}

TEST_CASE("transforms refuse what has no length") {
  on_each_device([](Context& context) {
    const Tensor x = ones({2, 3}, DType::kF32, context);
    const Tensor none = ones({2, 0}, DType::kF32, context);
    const Tensor scalar = ones({}, DType::kF32, context);
    refuses([&] { rfft(x, 2); }, "[rfft] expected an axis in [-2, 2), got 2");
    refuses([&] { rfft(scalar); }, "[rfft] expected an axis in [0, 0), got -1");
    refuses([&] { rfft(none); }, "[rfft] expected a non-empty axis, got size 0 on axis 1");
    refuses([&] { fft({none, none}); }, "[fft] expected a non-empty axis, got size 0 on axis 1");
    refuses([&] { ifft({x, none}); }, "[ifft] expected shapes that broadcast");
    refuses([&] { rfft(scalar.broadcast_to({int64_t{1} << 40})); },
            "[rfft] expected a length of at most 67108864, got 1099511627776");
    refuses([&] { irfft({x, x}, INT64_MAX); }, "[irfft] expected a length of at most 67108864");
    refuses([&] { irfft({x, x}, 0); }, "[irfft] expected a length of at least 1, got 0");
    refuses(
        [&] {
          irfft({x.slice({Slice{}, Slice{0, 1}}), Tensor(0)});
        },
        "[irfft] expected a length of at least 1, got 0");
    refuses([&] { fftfreq(0); }, "[fftfreq] expected a length of at least 1, got 0");
    refuses([&] { rfftfreq(3, 1, DType::kI32); }, "[rfftfreq] expected a float dtype, got i32");
    refuses([&] { fftshift(x, {3}); }, "[fftshift] expected an axis in [-2, 2), got 3");
    refuses([&] { convolve(x, x); }, "[convolve] expected a kernel of rank 1, got rank 2");
    refuses([&] { convolve(none, x.ravel()); },
            "[convolve] expected at least one element of each, got 0 and 6");
    refuses([&] { fft_convolve(x, x.ravel()); },
            "[fft_convolve] expected two tensors of one rank above 0, got ranks 2 and 1");
    refuses([&] { fft_convolve(x, none); }, "[fft_convolve] expected non-empty axes, got [2, 3]");
    refuses([&] { fft_convolve(x, x.matrix_transpose(), Convolution::kValid); },
            "[fft_convolve] expected one to be at least as large as the other on each axis");
  });
}
