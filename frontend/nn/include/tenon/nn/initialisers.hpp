// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where parameters begin.
//
// Fans are PyTorch's: of a weight [outputs, inputs, sizes of a window..] the fan in is inputs times
// the window, the fan out outputs times the window. Shapes of rank 1 have no fans: kInvalid.
#pragma once

#include "tenon/export.hpp"
#include "tenon/nn/module.hpp"

namespace tenon::nn {

enum class Fan : uint8_t { kIn, kOut };

TENON_API Initialiser constant(double value);
TENON_API Initialiser zeros();
TENON_API Initialiser ones();
TENON_API Initialiser uniform(double low, double high);
TENON_API Initialiser normal(double mean = 0, double stddev = 1);
/// Normal, cut at two standard deviations.
TENON_API Initialiser truncated_normal(double mean = 0, double stddev = 1);
/// Uniform within gain sqrt(6 / (fan in + fan out)): Glorot and Bengio, 2010.
TENON_API Initialiser xavier_uniform(double gain = 1);
/// Of standard deviation gain sqrt(2 / (fan in + fan out)).
TENON_API Initialiser xavier_normal(double gain = 1);
/// Uniform within gain sqrt(3 / fan): He et al., 2015. The gain of relu is sqrt(2).
TENON_API Initialiser kaiming_uniform(double gain = 1.4142135623730951, Fan fan = Fan::kIn);
/// Of standard deviation gain / sqrt(fan).
TENON_API Initialiser kaiming_normal(double gain = 1.4142135623730951, Fan fan = Fan::kIn);
/// gain times Q of a normal matrix, with the signs of R's diagonal: Saxe et al., 2013. Axes after
/// the first are one.
TENON_API Initialiser orthogonal(double gain = 1);

}  // namespace tenon::nn
