// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Float formats, and the rounding step shared by all conversions to narrow floats.
#pragma once

#include <cstdint>

#include "core/ir/dtype.hpp"

namespace tenon {

struct FloatFormat {
  int mantissa_bits;
  int bias;
  uint64_t sign;        ///< mask of the sign bit
  uint64_t max_finite;  ///< code of the largest finite value
  uint64_t overflow;    ///< code for overflow: infinity, or the largest finite value
  uint64_t quiet_nan;
  bool has_infinity;
};

/// The format of a float dtype.
const FloatFormat& float_format(DType dtype);

/// NEG of a float by flipping the sign bit, also of a NaN.
uint64_t negate_bits(uint64_t bits, DType dtype);

/// The code nearest to (-1)^negative * mantissa * 2^exponent, ties to even. The exponent is within
/// +-10000.
uint64_t round_to_format(bool negative, uint64_t mantissa, int exponent, const FloatFormat& format);

}  // namespace tenon
