// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fourier transforms and convolutions against NumPy.
#include <catch2/catch_test_macros.hpp>

#include "tests/tensor/goldens/golden.hpp"

namespace tenon::test {
namespace {

FFTNorm norm_of(const Call& c) {
  const std::string& word = c.word("norm");
  if (word == "ortho") return FFTNorm::kOrtho;
  return word == "forward" ? FFTNorm::kForward : FFTNorm::kBackward;
}

Convolution mode_of(const Call& c) {
  const std::string& word = c.word("mode");
  if (word == "same") return Convolution::kSame;
  return word == "valid" ? Convolution::kValid : Convolution::kFull;
}

Tensors both(const ComplexPair& x) { return {x.real, x.imag}; }

const Function kFFT[] = {
    {"fft",
     [](const Call& c) {
       return both(fft({c.in.at(0), c.in.at(1)}, c.axis(), norm_of(c)));
     },
     16, 8, true, false},
    {"ifft",
     [](const Call& c) {
       return both(ifft({c.in.at(0), c.in.at(1)}, c.axis(), norm_of(c)));
     },
     4, 8, true, false},
    {"rfft", [](const Call& c) { return both(rfft(c.in.at(0), c.axis(), norm_of(c))); }, 16, 8,
     true, false},
    {"irfft",
     [](const Call& c) {
       std::optional<int64_t> n;
       if (c.has("n")) n = c.integer("n");
       return Tensors{irfft({c.in.at(0), c.in.at(1)}, n, c.axis(), norm_of(c))};
     },
     4, 8, true, false},
    {"fftfreq",
     [](const Call& c) {
       return Tensors{fftfreq(c.integer("n"), c.real("spacing"), c.dtype(), c.context)};
     }},
    {"rfftfreq",
     [](const Call& c) {
       return Tensors{rfftfreq(c.integer("n"), c.real("spacing"), c.dtype(), c.context)};
     }},
    {.name = "fftshift",
     .run = [](const Call& c) { return Tensors{fftshift(c.in.at(0), c.axes())}; },
     .moves = true},
    {.name = "ifftshift",
     .run = [](const Call& c) { return Tensors{ifftshift(c.in.at(0), c.axes())}; },
     .moves = true},
    {"convolve",
     [](const Call& c) { return Tensors{convolve(c.in.at(0), c.in.at(1), mode_of(c), c.axis())}; },
     4, 8, true, false},
    {"fft_convolve",
     [](const Call& c) {
       return Tensors{fft_convolve(c.in.at(0), c.in.at(1), mode_of(c), c.axes())};
     },
     8, 8, true, false},
};

TEST_CASE("Fourier transforms") { run_goldens("fft", kFFT); }

}  // namespace

std::span<const Function> fft_functions() { return kFFT; }

}  // namespace tenon::test
