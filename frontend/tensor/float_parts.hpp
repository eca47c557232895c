// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats of f32 and f64 by their exponent and fraction: exact on every device, subnormal ones too
// where the device keeps them. Internal to the library.
#pragma once

#include "frontend/tensor/formula.hpp"

namespace tenon {

struct FloatLayout {
  int mantissa_bits, bias;
};
FloatLayout float_layout(const Tensor& x);

/// 2^n of whole n in the range of normal numbers.
Tensor power_of_two(const Tensor& n);

/// A finite x > 0 as whole * 2^exponent, both in x's dtype. The whole number has the significant
/// bits of the dtype: it is in [2^(p-1), 2^p).
struct WholeParts {
  Tensor whole, exponent;
};
WholeParts whole_parts(const Tensor& x);

/// Powers of two, one the inverse of the other, for numbers up to `most` >= 0: x * down is at most
/// 4, and `most` * down at least 1 if `most` is a normal number.
struct Scale {
  Tensor down, up;
};
Scale power_scale(const Tensor& most);

}  // namespace tenon
