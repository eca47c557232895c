// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fourier transforms of pairs of real tensors, and convolutions; names as in numpy.fft.
//
// Forward is X[k] = sum over j of x[j] e^(-2 pi i j k / n) along one axis; axes beside it are a
// batch. A length is cut into factors of at most 32, or of a prime up to 128, and each factor r is
// a product with an r x r matrix (the autosort form of Cooley and Tukey's, 1965: Stockham, 1966):
// O(n * sum of factors) work, two kernels a factor. Lengths with larger primes go through a
// convolution of a power of two (Bluestein, 1970), at about eight times the cost. Roots of unity
// are computed in f64 and rounded once. Floats of any width; f16, bf16 and fp8 are computed in f32
// and rounded once, integers and bools become f32. Differentiable. Wrong axes, empty ones and such
// of more than 2^26 elements throw kInvalid.
#pragma once

#include <cstdint>
#include <optional>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

/// Complex numbers as two tensors of one dtype and shape; where these differ they promote and
/// broadcast.
struct ComplexPair {
  Tensor real, imag;
};

/// What is divided: the inverse by n, both by sqrt(n), or the forward transform by n.
enum class FFTNorm : uint8_t { kBackward, kOrtho, kForward };

/// Of complex numbers, in their shape.
TENON_API ComplexPair fft(const ComplexPair& x, int axis = -1, FFTNorm norm = FFTNorm::kBackward);
/// Its inverse: ifft(fft(x)) is x.
TENON_API ComplexPair ifft(const ComplexPair& x, int axis = -1, FFTNorm norm = FFTNorm::kBackward);
/// Of real numbers: the first n/2 + 1 of n, as the others are their conjugates.
TENON_API ComplexPair rfft(const Tensor& x, int axis = -1, FFTNorm norm = FFTNorm::kBackward);
/// Its inverse, irfft(rfft(x), n) is x: of n real numbers (default: twice one less than there are);
/// as many as that needs are taken, zeros stand for missing ones. What a real result cannot have is
/// ignored: imaginary parts at 0 and, of even n, at n/2.
TENON_API Tensor irfft(const ComplexPair& x, std::optional<int64_t> n = {}, int axis = -1,
                       FFTNorm norm = FFTNorm::kBackward);

/// Frequencies of fft's results at a sample spacing: 0, 1, .., -2, -1 over n * spacing, [n].
TENON_API Tensor fftfreq(int64_t n, double spacing = 1, DType dtype = DType::kF32,
                         Context& context = Context::standard());
/// Those of rfft's results: 0, 1, .., n/2 over n * spacing.
TENON_API Tensor rfftfreq(int64_t n, double spacing = 1, DType dtype = DType::kF32,
                          Context& context = Context::standard());
/// Frequency 0 in the middle, n/2, of these axes (none: all); and back.
TENON_API Tensor fftshift(const Tensor& x, const Axes& axes = {});
TENON_API Tensor ifftshift(const Tensor& x, const Axes& axes = {});

/// Which part of a convolution of n and m elements: all n + m - 1, as many as the larger has around
/// the middle (fft_convolve: as the first has), or those that no zero beyond an end enters.
enum class Convolution : uint8_t { kFull, kSame, kValid };

/// Sum over j of x[i - j] kernel[j] along an axis, kernel [m]: np.convolve. O(n m) work, one
/// kernel; any dtype. Throws where either is empty.
TENON_API Tensor convolve(const Tensor& x, const Tensor& kernel,
                          Convolution mode = Convolution::kFull, int axis = -1);
/// The same over axes (none: all) of two tensors of equal rank by transforms of the next length
/// without primes above 5; other axes broadcast. scipy.signal.fftconvolve. Throws in kValid unless
/// one is at least as large as the other on each of the axes.
TENON_API Tensor fft_convolve(const Tensor& x, const Tensor& kernel,
                              Convolution mode = Convolution::kFull, const Axes& axes = {});

}  // namespace tenon
