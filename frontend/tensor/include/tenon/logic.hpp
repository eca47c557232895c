// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions about elements, logic and bits. Comparisons, &, | and ^ are operators of Tensor.
#pragma once

#include <optional>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

// Any dtype to bool; integers are finite.
TENON_API Tensor isnan(const Tensor& x);     ///< is no number
TENON_API Tensor isinf(const Tensor& x);     ///< is +Inf or -Inf
TENON_API Tensor isfinite(const Tensor& x);  ///< is neither
TENON_API Tensor signbit(const Tensor& x);   ///< of zeros and NaN too
/// |a - b| <= atol + rtol |b|; equal infinities are close; NaN is close to NaN if `equal_nan`.
TENON_API Tensor isclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
                         bool equal_nan = false);
/// Numbers in place of NaN, +Inf and -Inf; without a number the largest finite one of the dtype.
TENON_API Tensor nan_to_num(const Tensor& x, Number nan = 0, std::optional<Number> posinf = {},
                            std::optional<Number> neginf = {});

// Anything that is not 0 is true.
TENON_API Tensor logical_not(const Tensor& x);                   ///< is 0
TENON_API Tensor logical_and(const Tensor& a, const Tensor& b);  ///< neither is 0
TENON_API Tensor logical_or(const Tensor& a, const Tensor& b);   ///< not both are 0
TENON_API Tensor logical_xor(const Tensor& a, const Tensor& b);  ///< one of them is 0

// Bits of integers; ~ of a bool is its contrary. Shifts by what is not in [0, bits) give 0, or -1
// for a negative number shifted right.
TENON_API Tensor operator~(const Tensor& x);
TENON_API Tensor operator<<(const Tensor& x, const Tensor& bits);
TENON_API Tensor operator>>(const Tensor& x, const Tensor& bits);

}  // namespace tenon
