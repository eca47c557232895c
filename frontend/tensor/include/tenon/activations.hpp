// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations of neural networks; sigmoid, tanh, relu and gelu (its tanh form) are members of
// Tensor.
//
// Each takes any shape and keeps it. Integers and bools are cast to f32, f16, bf16 and fp8 are
// computed in f32. All are finite wherever their value is.
#pragma once

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

TENON_API Tensor softplus(const Tensor& x);     ///< ln(1 + e^x)
TENON_API Tensor log_sigmoid(const Tensor& x);  ///< -ln(1 + e^-x)
TENON_API Tensor silu(const Tensor& x);         ///< x sigmoid(x): Elfwing, Uchibe, Doya, 2017
/// x where x > 0, alpha (e^x - 1) elsewhere: Clevert, Unterthiner, Hochreiter, 2015
TENON_API Tensor elu(const Tensor& x, double alpha = 1);
/// 1.0507.. elu(x, 1.6732..), with which mean 0 and variance 1 stay: Klambauer et al., 2017
TENON_API Tensor selu(const Tensor& x);
/// x where x > 0, alpha (e^(x/alpha) - 1) elsewhere: Barron, 2017
TENON_API Tensor celu(const Tensor& x, double alpha = 1);
TENON_API Tensor mish(const Tensor& x);         ///< x tanh(softplus(x)): Misra, 2019
TENON_API Tensor relu6(const Tensor& x);        ///< clip(x, 0, 6)
TENON_API Tensor hardsigmoid(const Tensor& x);  ///< clip(x + 3, 0, 6) / 6
TENON_API Tensor hardswish(const Tensor& x);    ///< x hardsigmoid(x): Howard et al., 2019
TENON_API Tensor leaky_relu(const Tensor& x, double slope = 0.01);  ///< slope x below 0
TENON_API Tensor prelu(const Tensor& x, const Tensor& slope);  ///< the same; the slope broadcasts
/// x times the normal distribution's share below x, x erfc(-x / sqrt(2)) / 2: Hendrycks and Gimpel,
/// 2016
TENON_API Tensor gelu_exact(const Tensor& x);

}  // namespace tenon
